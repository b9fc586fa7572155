package config

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"pingpost/engine/market"
)

// scalar is a value of the form that reads itself from a node. The error says
// what was expected and never quotes the value.
type scalar interface{ read(n *node) error }

// bind fills a value of the form from a node and reports everything that does
// not fit: unknown keys, repeated keys, wrong kinds. What is wrong is left at
// its zero value, and binding goes on.
func (r *reader) bind(n *node, at place, v reflect.Value) {
	if n.kind == nullKind {
		return // written and left empty: as if it were not there
	}
	if v.Kind() == reflect.Pointer {
		fresh := reflect.New(v.Type().Elem())
		before := len(r.problems)
		r.bind(n, at, fresh.Elem())
		if isMapping(fresh.Elem()) || len(r.problems) == before {
			v.Set(fresh)
		}
		return
	}
	if n.expanded && !r.admits(n, at, v.Addr().Interface()) {
		return
	}
	if reads, ok := v.Addr().Interface().(scalar); ok {
		r.check(n, at, reads.read(n))
		return
	}
	switch into := v.Addr().Interface().(type) {
	case *market.Money:
		r.check(n, at, readMoney(n, into))
	case *string:
		r.check(n, at, readText(n, into))
	case *bool:
		r.check(n, at, readBool(n, into))
	case *int:
		r.check(n, at, readInt(n, into))
	default:
		r.bindInside(n, at, v)
	}
}

// admits reports whether a value of the form may hold the variables that a node has. A
// mistake is reported.
func (r *reader) admits(n *node, at place, into any) bool {
	_, secret := into.(*Secret)
	_, address := into.(*Address)
	switch {
	case r.sent && !secret && !address && n.missing != "":
		r.fail(n.position, at, "the environment is for secrets here; write the value itself, or apply the file by pingpost apply where the variable is set")
	case n.missing != "" && !(r.keeps && (secret || address)):
		r.fail(n.position, at, n.missing)
	default:
		return true
	}
	return false
}

func isMapping(v reflect.Value) bool {
	_, reads := v.Addr().Interface().(scalar)
	return v.Kind() == reflect.Struct && !reads
}

func (r *reader) check(n *node, at place, err error) {
	if err != nil {
		r.fail(n.position, at, err.Error())
	}
}

func (r *reader) bindInside(n *node, at place, v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if n.kind != listKind {
			r.check(n, at, expected("a list", n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
		for i, item := range n.items {
			if item.kind == nullKind && !item.expanded {
				r.fail(item.position, at.at(i), "this entry is empty; fill it in or remove it")
				continue
			}
			r.bind(item, at.at(i), v.Index(i))
		}
	case reflect.Struct:
		if n.kind != mapKind {
			r.check(n, at, expected("a mapping", n))
			return
		}
		r.bindMapping(n, at, v)
	default:
		panic("BUG: the form has a field of type " + v.Type().String())
	}
}

func (r *reader) bindMapping(n *node, at place, v reflect.Value) {
	known := keysOf(v.Type())
	seen := make(map[string]int, len(n.members))
	for _, m := range n.members {
		here := at.key(m.key)
		index, ok := known[m.key]
		first, twice := seen[m.key]
		switch {
		case !ok:
			r.fail(m.position, here, "unknown key"+suggest(m.key, known))
		case twice:
			r.fail(m.position, here, fmt.Sprintf("the key stands here a second time, first in line %d; keep one", first))
		default:
			seen[m.key] = m.line
			r.bind(m.value, here, v.Field(index))
		}
	}
}

// keys has the keys of each struct of the form, by its json tags.
var keys sync.Map // reflect.Type to map[string]int

func keysOf(t reflect.Type) map[string]int {
	if found, ok := keys.Load(t); ok {
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
	keys.Store(t, known)
	return known
}
