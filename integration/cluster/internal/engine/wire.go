package engine

import (
	"encoding/json"

	"github.com/truora/minidyn/server"
)

// answer is a JSON object on the wire.
type answer map[string]any

type attributes = map[string]*server.AttributeValue

// value is an attribute value on the wire. minidyn's own encoding drops what
// is empty, such as an empty list, and leaves "{}", which has no type.
type value server.AttributeValue

// MarshalJSON writes the one type that the value has.
func (v *value) MarshalJSON() ([]byte, error) {
	switch {
	case v.S != nil:
		return json.Marshal(answer{"S": v.S})
	case v.N != nil:
		return json.Marshal(answer{"N": v.N})
	case v.B != nil:
		return json.Marshal(answer{"B": v.B})
	case v.BOOL != nil:
		return json.Marshal(answer{"BOOL": v.BOOL})
	case v.NULL != nil:
		return json.Marshal(answer{"NULL": v.NULL})
	case v.M != nil:
		return json.Marshal(answer{"M": wireItem(v.M)})
	case v.L != nil:
		list := make([]*value, len(v.L))
		for i, element := range v.L {
			list[i] = (*value)(element)
		}
		return json.Marshal(answer{"L": list})
	case v.SS != nil:
		return json.Marshal(answer{"SS": v.SS})
	case v.NS != nil:
		return json.Marshal(answer{"NS": v.NS})
	case v.BS != nil:
		return json.Marshal(answer{"BS": v.BS})
	}
	return []byte("{}"), nil
}

func wireItem(item attributes) map[string]*value {
	out := make(map[string]*value, len(item))
	for name, v := range item {
		out[name] = (*value)(v)
	}
	return out
}

func wireItems(items []attributes) []map[string]*value {
	out := make([]map[string]*value, len(items))
	for i, item := range items {
		out[i] = wireItem(item)
	}
	return out
}

// answerItem answers with an item under a name, or with nothing if there is no
// item.
func answerItem(name string, item attributes) answer {
	if len(item) == 0 {
		return answer{}
	}
	return answer{name: wireItem(item)}
}
