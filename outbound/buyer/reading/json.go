package reading

import (
	"strconv"
	"strings"
	"sync"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

// jsonPool reuses the memory of parsed JSON answers.
var jsonPool = sync.Pool{New: func() any { return new(jsonAnswer) }}

// jsonAnswer is a parsed JSON answer. nested holds the object or array element that textAtPath
// has reached.
type jsonAnswer struct {
	body   strictjson.Object
	nested strictjson.Object
}

func (a *jsonAnswer) releaseToPool() {
	a.body.ClearForReuse()
	a.nested.ClearForReuse()
	jsonPool.Put(a)
}

// extractJSON reads the fields from a JSON answer. paths has, for each field, the path of its
// value, such as data.offers.0.price, or "".
func (f *AnswerFields) extractJSON(body []byte, paths *[fieldCount]string) error {
	a, _ := jsonPool.Get().(*jsonAnswer)
	defer a.releaseToPool()
	if err := a.body.Parse(body); err != nil {
		return err
	}
	for i, place := range paths {
		if place != "" {
			f[i] = a.textAtPath(place)
		}
	}
	return nil
}

// textAtPath returns the text of the value at a path such as data.offers.0.price. It returns ""
// if the value is missing, null, an object or an array.
func (a *jsonAnswer) textAtPath(path string) (text string) {
	step, rest, more := strings.Cut(path, ".")
	m, ok := a.body.Lookup(step)
	for ok && more {
		step, rest, more = strings.Cut(rest, ".")
		switch m.Kind {
		case market.JSONObject:
			ok = a.nested.Parse(m.Text) == nil
		case market.JSONArray:
			ok = a.nested.Parse(wrapInObject(arrayItemAt(m.Text, step))) == nil
			step = "item"
		default:
			ok = false
		}
		if ok {
			m, ok = a.nested.Lookup(step)
		}
	}
	if !ok || m.Kind == market.JSONNull || m.Kind == market.JSONObject || m.Kind == market.JSONArray {
		return ""
	}
	return string(m.Text)
}

// wrapInObject returns the JSON object {"item":value}. It lets strictjson, which parses only
// objects, parse an element of an array.
func wrapInObject(value []byte) []byte {
	return append(append([]byte(`{"item":`), value...), '}')
}

// arrayItemAt returns the JSON text of the element at the index, or nil if there is no
// such element. array must be valid JSON.
func arrayItemAt(array []byte, index string) []byte {
	n, err := strconv.ParseUint(index, 10, 16)
	if err != nil {
		return nil
	}
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(array); i++ {
		switch c := array[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth == 1 {
				start = i + 1
			}
		case c == ',' && depth == 1, (c == ']' || c == '}') && depth == 1:
			if n == 0 {
				return array[start:i]
			}
			n, start = n-1, i+1
			if c != ',' {
				return nil
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}
