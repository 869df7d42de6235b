package vectors

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Hash is the hash of the value of a partition key.
type Hash struct {
	Name  string               `json:"name"`
	Value types.AttributeValue `json:"value"`
	Hash  int64                `json:"hash"`
	Hex   string               `json:"hex"` // the same 64 bits, as 0x and 16 digits
}

// UnmarshalJSON reads a vector of hash.json.
func (h *Hash) UnmarshalJSON(content []byte) error {
	var fields struct {
		Name  string
		Value attributeValue
		Hash  int64 `json:",string"`
		Hex   string
	}
	if err := decodeStrictly(content, &fields); err != nil {
		return err
	}
	if hex := fmt.Sprintf("0x%016X", uint64(fields.Hash)); hex != fields.Hex {
		return fmt.Errorf("the hash %d is %s, not %s", fields.Hash, hex, fields.Hex)
	}
	*h = Hash{Name: fields.Name, Value: fields.Value.sdk, Hash: fields.Hash, Hex: fields.Hex}
	return nil
}
