package vectors

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Batch is the writes of one BatchWriteItem and how they are routed.
type Batch struct {
	Name          string            `json:"name"`
	Nodes         []string          `json:"nodes"`         // canonical and in ring order
	PartitionKeys map[string]string `json:"partitionKeys"` // by table; others are not known
	RequestItems  RequestItems      `json:"requestItems"`
	Votes         []Vote            `json:"votes"`    // of the voted nodes, in plan order
	Order         []string          `json:"order"`    // the whole plan; empty if there are no votes
	Fallback      bool              `json:"fallback"` // no votes: any order will do
	Discover      []string          `json:"discover"` // tables whose partition key must be looked up, sorted
}

// RequestItems is the writes of a batch by table, as in the SDK's
// BatchWriteItemInput.
type RequestItems map[string][]types.WriteRequest

// UnmarshalJSON reads request items in DynamoDB's JSON. Writes that a server
// would refuse, with neither or both of put and delete or without attributes,
// are read as they are.
func (r *RequestItems) UnmarshalJSON(content []byte) error {
	var tables map[string][]struct {
		PutRequest    *struct{ Item map[string]attributeValue }
		DeleteRequest *struct{ Key map[string]attributeValue }
	}
	if err := decodeStrictly(content, &tables); err != nil {
		return err
	}
	*r = make(RequestItems, len(tables))
	for table, writes := range tables {
		requests := make([]types.WriteRequest, len(writes))
		for i, w := range writes {
			if w.PutRequest != nil {
				requests[i].PutRequest = &types.PutRequest{Item: sdkValues(w.PutRequest.Item)}
			}
			if w.DeleteRequest != nil {
				requests[i].DeleteRequest = &types.DeleteRequest{Key: sdkValues(w.DeleteRequest.Key)}
			}
		}
		(*r)[table] = requests
	}
	return nil
}

// sdkValues unwraps a map of values; a map that is not there stays nil.
func sdkValues(values map[string]attributeValue) map[string]types.AttributeValue {
	if values == nil {
		return nil
	}
	unwrapped := make(map[string]types.AttributeValue, len(values))
	for name, v := range values {
		unwrapped[name] = v.sdk
	}
	return unwrapped
}
