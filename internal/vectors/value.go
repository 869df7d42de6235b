package vectors

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// attributeValue is a value of the SDK that can be read from DynamoDB's JSON.
// It does not embed the value, so that it cannot be taken for one.
type attributeValue struct{ sdk types.AttributeValue }

// UnmarshalJSON reads an object whose only field is named after its type. A
// null is no value.
func (v *attributeValue) UnmarshalJSON(content []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil {
		return err
	}
	if members == nil {
		v.sdk = nil
		return nil
	}
	if len(members) != 1 {
		return fmt.Errorf("a value has %d types, want one: %s", len(members), content)
	}
	for kind, member := range members {
		if string(member) == "null" {
			return fmt.Errorf("a value of type %q is null", kind)
		}
		value, err := decodeMember(kind, member)
		if err != nil {
			return err
		}
		v.sdk = value
	}
	return nil
}

func decodeMember(kind string, content []byte) (types.AttributeValue, error) {
	switch kind {
	case "S":
		v := new(types.AttributeValueMemberS)
		return v, json.Unmarshal(content, &v.Value)
	case "N":
		v := new(types.AttributeValueMemberN)
		return v, json.Unmarshal(content, &v.Value)
	case "B":
		v := new(types.AttributeValueMemberB)
		return v, json.Unmarshal(content, &v.Value)
	case "BOOL":
		v := new(types.AttributeValueMemberBOOL)
		return v, json.Unmarshal(content, &v.Value)
	case "NULL":
		v := new(types.AttributeValueMemberNULL)
		return v, json.Unmarshal(content, &v.Value)
	case "SS":
		v := new(types.AttributeValueMemberSS)
		return v, json.Unmarshal(content, &v.Value)
	case "NS":
		v := new(types.AttributeValueMemberNS)
		return v, json.Unmarshal(content, &v.Value)
	case "BS":
		v := new(types.AttributeValueMemberBS)
		return v, json.Unmarshal(content, &v.Value)
	case "L":
		var elements []attributeValue
		err := json.Unmarshal(content, &elements)
		v := new(types.AttributeValueMemberL)
		for _, element := range elements {
			v.Value = append(v.Value, element.sdk)
		}
		return v, err
	case "M":
		var fields map[string]attributeValue
		err := json.Unmarshal(content, &fields)
		return &types.AttributeValueMemberM{Value: sdkValues(fields)}, err
	}
	return nil, fmt.Errorf("a value has the unknown type %q", kind)
}
