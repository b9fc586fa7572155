package columnar

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// table is the schema's root. The library's own group has its columns by the alphabet,
// and makes a Go type of them, which is never given back: this one has neither.
type table struct {
	parquet.Group
	fields []parquet.Field
}

func newTable(columns []Column) *table {
	t := &table{Group: parquet.Group{}}
	for i := range columns {
		node := nodeOf(&columns[i])
		t.Group[columns[i].Name] = node
		t.fields = append(t.fields, &field{Node: node, name: columns[i].Name})
	}
	return t
}

// Fields are the columns, in their order.
func (t *table) Fields() []parquet.Field { return t.fields }

// GoType is asked for by nothing that writes rows.
func (*table) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

func nodeOf(c *Column) (node parquet.Node) {
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

// field is a column below its name.
type field struct {
	parquet.Node
	name string
}

func (f *field) Name() string { return f.name }

// Value is of Go values, of which there are none.
func (*field) Value(reflect.Value) reflect.Value { return reflect.Value{} }
