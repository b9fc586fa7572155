package state

import "reflect"

// fieldsNotInDigest changes each field of an empty value, with those of nested values, and
// returns the fields that do not change the digest.
func fieldsNotInDigest[T any](digest func(*T) uint64) (missing []string) {
	var empty T
	base := digest(&empty)
	eachLeaf(reflect.TypeFor[T](), "", nil, func(name string, path []int) {
		var changed T
		v := reflect.ValueOf(&changed).Elem()
		for _, i := range path {
			switch v.Kind() {
			case reflect.Slice:
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				v = v.Index(0)
			case reflect.Array:
				v = v.Index(i)
			default:
				v = v.Field(i)
			}
		}
		setLeaf(reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()) // an unexported field, too
		if digest(&changed) == base {
			missing = append(missing, name)
		}
	})
	return missing
}

// eachLeaf visits every field that is not a struct. The last element represents a list or an
// array.
func eachLeaf(t reflect.Type, name string, path []int, visit func(name string, path []int)) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			eachLeaf(t.Field(i).Type, name+"."+t.Field(i).Name, append(path[:len(path):len(path)], i), visit)
		}
	case reflect.Array:
		eachLeaf(t.Elem(), name, append(path[:len(path):len(path)], t.Len()-1), visit)
	case reflect.Slice:
		eachLeaf(t.Elem(), name, append(path[:len(path):len(path)], 0), visit)
	default:
		visit(name, path)
	}
}

func setLeaf(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		v.SetUint(1)
	}
}
