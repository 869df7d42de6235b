package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/truora/minidyn/server"
)

// systemPrefix begins the names of system tables, which can be read but not
// made or described (source: Scylla's alternator docs).
const systemPrefix = ".scylla.alternator."

var validName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,192}$`)

// description is a TableDescription on the wire.
type description struct {
	TableName              string
	TableStatus            types.TableStatus
	TableID                string `json:"TableId"`
	TableArn               string
	CreationDateTime       float64                     `json:",omitzero"` // seconds since 1970
	KeySchema              []types.KeySchemaElement    `json:",omitempty"`
	AttributeDefinitions   []types.AttributeDefinition `json:",omitempty"`
	BillingModeSummary     *types.BillingModeSummary   `json:",omitempty"`
	ProvisionedThroughput  throughput
	GlobalSecondaryIndexes []types.GlobalSecondaryIndexDescription `json:",omitempty"`
	LocalSecondaryIndexes  []types.LocalSecondaryIndexDescription  `json:",omitempty"`
}

type throughput struct {
	NumberOfDecreasesToday, ReadCapacityUnits, WriteCapacityUnits int64
}

func (e *Engine) createTable(in *server.CreateTableInput) (any, error) {
	name := aws.ToString(in.TableName)
	if !validName.MatchString(name) {
		return nil, invalid("TableName must be 3 to 192 characters of a-z, A-Z, 0-9, underscore, dash and dot: %q", name)
	}
	if strings.HasPrefix(name, systemPrefix) {
		return nil, invalid("Prefix %s is reserved for accessing internal tables", systemPrefix)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tables[name] != nil {
		return nil, &Error{Type: ResourceInUse, Message: "Table " + name + " already exists"}
	}
	out, err := e.store.CreateTable(context.Background(), in)
	if err != nil {
		return nil, err
	}
	t := newTable(in)
	e.tables[name] = t
	return answer{"TableDescription": t.describe(out.TableDescription)}, nil
}

func newTable(in *server.CreateTableInput) *table {
	t := &table{
		name:      *in.TableName,
		id:        newID(),
		created:   time.Now(),
		defined:   in.AttributeDefinitions,
		indexes:   map[string]bool{},
		onDemand:  in.BillingMode == types.BillingModePayPerRequest,
		provision: in.ProvisionedThroughput,
	}
	for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, k := range in.KeySchema {
			if k.KeyType == kind {
				t.key = append(t.key, t.keyAttribute(aws.ToString(k.AttributeName)))
			}
		}
	}
	for _, index := range in.GlobalSecondaryIndexes {
		t.indexes[aws.ToString(index.IndexName)] = true
	}
	for _, index := range in.LocalSecondaryIndexes {
		t.indexes[aws.ToString(index.IndexName)] = true
	}
	return t
}

func (t *table) keyAttribute(name string) keyAttribute {
	for _, d := range t.defined {
		if aws.ToString(d.AttributeName) == name {
			return keyAttribute{name, d.AttributeType}
		}
	}
	return keyAttribute{name: name}
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4, RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (e *Engine) describeTable(in *server.DescribeTableInput) (any, error) {
	e.mu.Lock() // minidyn's DescribeTable reads items without its own lock
	defer e.mu.Unlock()
	t, err := e.resolveLocked(&in.TableName)
	if err != nil {
		return nil, err
	}
	out, err := e.store.DescribeTable(context.Background(), in)
	if err != nil {
		return nil, err
	}
	return answer{"Table": t.describe(out.Table)}, nil
}

func (e *Engine) updateTable(in *server.UpdateTableInput) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.resolveLocked(&in.TableName)
	if err != nil {
		return nil, err
	}
	out, err := e.store.UpdateTable(context.Background(), in)
	if err != nil {
		return nil, err
	}
	t.update(in)
	return answer{"TableDescription": t.describe(out.TableDescription)}, nil
}

func (t *table) update(in *server.UpdateTableInput) {
	for _, d := range in.AttributeDefinitions {
		if t.keyAttribute(aws.ToString(d.AttributeName)).kind == "" {
			t.defined = append(t.defined, d)
		}
	}
	for _, change := range in.GlobalSecondaryIndexUpdates {
		if change.Create != nil {
			t.indexes[aws.ToString(change.Create.IndexName)] = true
		}
		if change.Delete != nil {
			delete(t.indexes, aws.ToString(change.Delete.IndexName))
		}
	}
	if in.BillingMode != "" {
		t.onDemand = in.BillingMode == types.BillingModePayPerRequest
	}
	if in.ProvisionedThroughput != nil {
		t.provision = in.ProvisionedThroughput
	}
}

// deleteTable answers without a KeySchema, as Alternator does, and the table
// is gone when it answers.
func (e *Engine) deleteTable(in *server.DeleteTableInput) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.resolveLocked(&in.TableName)
	if err != nil {
		return nil, err
	}
	if _, err := e.store.DeleteTable(context.Background(), in); err != nil {
		return nil, err
	}
	delete(e.tables, t.name)
	return answer{"TableDescription": description{
		TableName:   t.name,
		TableStatus: types.TableStatusDeleting,
		TableID:     t.id,
		TableArn:    t.arn(),
	}}, nil
}

func (e *Engine) listTables(in *struct {
	ExclusiveStartTableName string
	Limit                   *int
}) (any, error) {
	limit := 100
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > 100 {
		return nil, invalid("Limit must be greater than 0 and no greater than 100")
	}
	e.mu.RLock()
	names := slices.Sorted(maps.Keys(e.tables))
	e.mu.RUnlock()
	from, found := slices.BinarySearch(names, in.ExclusiveStartTableName)
	if found {
		from++
	}
	names = names[from:]
	if len(names) <= limit {
		return answer{"TableNames": append([]string{}, names...)}, nil
	}
	return answer{"TableNames": names[:limit], "LastEvaluatedTableName": names[limit-1]}, nil
}

func (t *table) arn() string {
	return "arn:scylla:alternator:alternator_" + t.name + ":scylla:table/" + t.name
}

// describe completes minidyn's description of a table.
func (t *table) describe(minidyn any) description {
	d := description{
		TableName:            t.name,
		TableStatus:          types.TableStatusActive,
		TableID:              t.id,
		TableArn:             t.arn(),
		CreationDateTime:     float64(t.created.Unix()),
		AttributeDefinitions: t.defined,
	}
	for i, k := range t.key {
		kind := types.KeyTypeHash
		if i > 0 {
			kind = types.KeyTypeRange
		}
		d.KeySchema = append(d.KeySchema, types.KeySchemaElement{AttributeName: aws.String(k.name), KeyType: kind})
	}
	if t.onDemand {
		d.BillingModeSummary = &types.BillingModeSummary{BillingMode: types.BillingModePayPerRequest}
	} else if t.provision != nil {
		d.ProvisionedThroughput.ReadCapacityUnits = aws.ToInt64(t.provision.ReadCapacityUnits)
		d.ProvisionedThroughput.WriteCapacityUnits = aws.ToInt64(t.provision.WriteCapacityUnits)
	}
	if m, ok := minidyn.(*types.TableDescription); ok {
		d.GlobalSecondaryIndexes = m.GlobalSecondaryIndexes
		d.LocalSecondaryIndexes = m.LocalSecondaryIndexes
	}
	return d
}
