package buyer

import (
	"strconv"
	"strings"

	"pingpost/engine/market"
)

// readJSON finds what stands at places such as data.offers.0.price.
func (f *found) readJSON(body []byte, places *[findings]string) error {
	a, _ := answerPool.Get().(*answer)
	defer a.release()
	if err := a.whole.Parse(body); err != nil {
		return err
	}
	for i, place := range places {
		if place != "" {
			f[i] = a.at(place)
		}
	}
	return nil
}

// at is the text at a place, or nothing.
func (a *answer) at(place string) string {
	step, rest, more := strings.Cut(place, ".")
	m, ok := a.whole.Lookup(step)
	for ok && more {
		step, rest, more = strings.Cut(rest, ".")
		switch m.Kind {
		case market.JSONObject:
			ok = a.data.Parse(m.Text) == nil
		case market.JSONArray:
			ok = a.data.Parse(wrapped(item(m.Text, step))) == nil
			step = "item"
		default:
			ok = false
		}
		if ok {
			m, ok = a.data.Lookup(step)
		}
	}
	if !ok || m.Kind == market.JSONNull || m.Kind == market.JSONObject || m.Kind == market.JSONArray {
		return ""
	}
	return string(m.Text)
}

// wrapped makes an object of one value, since only objects are parsed.
func wrapped(value []byte) []byte {
	return append(append([]byte(`{"item":`), value...), '}')
}

// item is the text of an array's item by its number, from 0; nothing where
// there is none. The array was parsed already, so its grammar is right.
func item(array []byte, number string) []byte {
	n, err := strconv.ParseUint(number, 10, 16)
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
