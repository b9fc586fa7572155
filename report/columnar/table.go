package columnar

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// schemaRoot is the root of the file's schema, with the columns in their given order. The
// library's own root type sorts columns by name, and creates a Go type of them that is never
// freed. This one does neither.
type schemaRoot struct {
	parquet.Group
	fields []parquet.Field
}

func newSchemaRoot(columns []Column) *schemaRoot {
	t := &schemaRoot{Group: parquet.Group{}}
	for i := range columns {
		node := newSchemaNode(&columns[i])
		t.Group[columns[i].Name] = node
		t.fields = append(t.fields, &schemaField{Node: node, name: columns[i].Name})
	}
	return t
}

// Fields returns the columns in the order of the file.
func (t *schemaRoot) Fields() []parquet.Field { return t.fields }

// GoType exists because the library's interface has it. Writing rows does not call it.
func (*schemaRoot) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

func newSchemaNode(column *Column) (node parquet.Node) {
	switch column.Kind {
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
	if column.Optional {
		return parquet.Optional(node)
	}
	return parquet.Required(node)
}

// schemaField is a node of the schema together with its column name.
type schemaField struct {
	parquet.Node
	name string
}

func (f *schemaField) Name() string { return f.name }

// Value exists because the library's interface has it. Rows do not come from Go values, so
// the result is empty.
func (*schemaField) Value(reflect.Value) reflect.Value { return reflect.Value{} }
