package columnar

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// table is the root of the schema. The library's own group sorts columns by name and
// creates a Go type of them that is never freed. This one does neither.
type table struct {
	parquet.Group
	fields []parquet.Field
}

func newTable(columns []Column) *table {
	t := &table{Group: parquet.Group{}}
	for i := range columns {
		node := parquetNodeOf(&columns[i])
		t.Group[columns[i].Name] = node
		t.fields = append(t.fields, &field{Node: node, name: columns[i].Name})
	}
	return t
}

// Fields returns the columns in their order.
func (t *table) Fields() []parquet.Field { return t.fields }

// GoType is required by the interface; writing rows does not call it.
func (*table) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

func parquetNodeOf(c *Column) (node parquet.Node) {
	switch c.Kind {
	case Instant:
		node = parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.Plain)
	case Count:
		node = parquet.Encoded(parquet.Int(64), &parquet.Plain)
	case Money:
		node = parquet.Encoded(parquet.Decimal(6, 18, parquet.Int64Type), &parquet.Plain)
	case Share:
		node = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
	case Name:
		node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	default:
		node = parquet.Encoded(parquet.String(), &parquet.Plain)
	}
	if c.Optional {
		return parquet.Optional(node)
	}
	return parquet.Required(node)
}

// field is a column with its name.
type field struct {
	parquet.Node
	name string
}

func (f *field) Name() string { return f.name }

// Value is required by the interface; there are no Go values.
func (*field) Value(reflect.Value) reflect.Value { return reflect.Value{} }
