package schema

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// nodeDecoder is implemented by types that read their value from a document's node
// themselves. The error names the expected form and never quotes the value.
type nodeDecoder interface{ decodeNode(n *syntax.Node) error }

// Binder fills a Document from the nodes of a parsed text, and collects the mistakes.
type Binder struct {
	*syntax.Reader
	Sent       bool // the document came over the network; env has the sender's variables
	AllowUnset bool // a secret or address may lack its variable: the exchange may have sealed it
}

// Bind returns the document with the values of the root node and the defaults. Mistakes are
// in r.Problems.
func (r *Binder) Bind(root *syntax.Node) *Document {
	d := new(Document)
	r.bindValue(root, "", reflect.ValueOf(d).Elem())
	d.FillDefaults()
	return d
}

// bindValue fills the variable from node n at path `at`. It reports unknown keys, repeated
// keys and wrong types. A wrong value stays zero, and binding continues.
func (r *Binder) bindValue(n *syntax.Node, at syntax.KeyPath, variable reflect.Value) {
	if n.Kind == syntax.Null {
		return // an empty value counts as missing
	}
	if variable.Kind() == reflect.Pointer {
		fresh := reflect.New(variable.Type().Elem())
		before := len(r.Problems)
		r.bindValue(n, at, fresh.Elem())
		if IsStructWithFixedKeys(fresh.Elem()) || len(r.Problems) == before {
			variable.Set(fresh)
		}
		return
	}
	if n.Expanded && !r.checkVariablesAllowed(n, at, variable.Addr().Interface()) {
		return
	}
	if reads, ok := variable.Addr().Interface().(nodeDecoder); ok {
		r.addMistakeUnlessNil(n, at, reads.decodeNode(n))
		return
	}
	switch into := variable.Addr().Interface().(type) {
	case *market.Money:
		r.addMistakeUnlessNil(n, at, readMoney(n, into))
	case *string:
		r.addMistakeUnlessNil(n, at, readText(n, into))
	case *bool:
		r.addMistakeUnlessNil(n, at, readBool(n, into))
	case *int:
		r.addMistakeUnlessNil(n, at, readInt(n, into))
	default:
		r.bindSliceOrStruct(n, at, variable)
	}
}

// checkVariablesAllowed reports whether `into` can be filled from a node that names environment
// variables. It can if all these variables have values. Without a value only a secret or an address
// can be filled, if AllowUnset is set. Otherwise the function adds a mistake.
func (r *Binder) checkVariablesAllowed(n *syntax.Node, at syntax.KeyPath, into any) bool {
	_, secret := into.(*Secret)
	_, address := into.(*OutboundURL)
	switch {
	case r.Sent && !secret && !address && n.Missing != "":
		r.AddMistake(n.Position, at, "only secrets and addresses may come from the environment here; write the value, or run pingpost apply where the variable is set")
	case n.Missing != "" && !(r.AllowUnset && (secret || address)):
		r.AddMistake(n.Position, at, n.Missing)
	default:
		return true
	}
	return false
}

// IsStructWithFixedKeys reports whether v, an addressable value of the document's Go form, is a struct
// that is written as a mapping with fixed keys. It is false for a struct that decodes itself, such as
// Secret or RoleMap.
func IsStructWithFixedKeys(v reflect.Value) bool {
	_, reads := v.Addr().Interface().(nodeDecoder)
	return v.Kind() == reflect.Struct && !reads
}

func (r *Binder) addMistakeUnlessNil(n *syntax.Node, at syntax.KeyPath, err error) {
	if err != nil {
		r.AddMistake(n.Position, at, err.Error())
	}
}

func (r *Binder) bindSliceOrStruct(n *syntax.Node, at syntax.KeyPath, variable reflect.Value) {
	switch variable.Kind() {
	case reflect.Slice:
		if n.Kind != syntax.List {
			r.addMistakeUnlessNil(n, at, newExpectedError("a list", n))
			return
		}
		variable.Set(reflect.MakeSlice(variable.Type(), len(n.Items), len(n.Items)))
		for i, item := range n.Items {
			if item.Kind == syntax.Null && !item.Expanded {
				r.AddMistake(item.Position, at.Index(i), "this entry is empty; fill it in or remove it")
				continue
			}
			r.bindValue(item, at.Index(i), variable.Index(i))
		}
	case reflect.Struct:
		if n.Kind != syntax.Mapping {
			r.addMistakeUnlessNil(n, at, newExpectedError("a mapping", n))
			return
		}
		r.bindMapping(n, at, variable)
	case reflect.Map:
		if n.Kind != syntax.Mapping {
			r.addMistakeUnlessNil(n, at, newExpectedError("a mapping", n))
			return
		}
		r.bindMap(n, at, variable)
	default:
		panic("BUG: the form has a field of type " + variable.Type().String())
	}
}

func (r *Binder) bindMapping(n *syntax.Node, at syntax.KeyPath, variable reflect.Value) {
	known := FieldIndexByKey(variable.Type())
	seen := make(map[string]int, len(n.Members))
	for _, m := range n.Members {
		here := at.Key(m.Key)
		index, ok := known[m.Key]
		first, twice := seen[m.Key]
		switch {
		case !ok:
			r.AddMistake(m.Position, here, "unknown key"+suggestRemedyForUnknownKey(m.Key, known))
		case twice:
			r.addRepeatedKey(m.Position, here, first)
		default:
			seen[m.Key] = m.Line
			r.bindValue(m.Value, here, variable.Field(index))
		}
	}
}

// bindMap fills a map, whose keys are any texts. An empty value is the zero value.
func (r *Binder) bindMap(n *syntax.Node, at syntax.KeyPath, variable reflect.Value) {
	variable.Set(reflect.MakeMapWithSize(variable.Type(), len(n.Members)))
	seen := make(map[string]int, len(n.Members))
	for _, m := range n.Members {
		here := at.Key(m.Key)
		if first, twice := seen[m.Key]; twice {
			r.addRepeatedKey(m.Position, here, first)
			continue
		}
		seen[m.Key] = m.Line
		value := reflect.New(variable.Type().Elem()).Elem()
		r.bindValue(m.Value, here, value)
		variable.SetMapIndex(reflect.ValueOf(m.Key), value)
	}
}

func (r *Binder) addRepeatedKey(position syntax.Position, at syntax.KeyPath, firstLine int) {
	r.AddMistake(position, at, fmt.Sprintf("the key is repeated; it is first set in line %d; keep one", firstLine))
}

// keysByType maps each struct type of the schema to its keys (json tags).
var keysByType sync.Map // reflect.Type to map[string]int

// FieldIndexByKey returns the index of each field of struct type t by the field's key in the
// document.
func FieldIndexByKey(t reflect.Type) map[string]int {
	if found, ok := keysByType.Load(t); ok {
		return found.(map[string]int)
	}
	known := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" {
			panic("BUG: the form has a field without a key: " + t.String() + "." + t.Field(i).Name)
		}
		known[name] = i
	}
	keysByType.Store(t, known)
	return known
}
