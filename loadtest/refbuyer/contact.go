package refbuyer

import (
	"encoding/json"
	"strconv"

	"pingpost/engine/market"
)

// isContact reports whether a member name denotes contact data, in any spelling:
// first_name, firstName, First-Name. The list is separate from the exchange's, because the
// buyer checks the exchange.
func isContact(name []byte) bool {
	const longest = len("streetaddress")
	var buffer [longest]byte
	words := buffer[:0]
	for _, c := range name {
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '_' || c == '-' || c == ' ' || c == '.':
			continue
		}
		if len(words) == longest {
			return false
		}
		words = append(words, c)
	}
	switch string(words) {
	case "firstname", "lastname", "fullname", "phone", "phonenumber", "email", "emailaddress",
		"line1", "street", "streetaddress", "addressline1":
		return true
	}
	return false
}

// findContact returns the path of the first contact field in a member of a ping, at any
// depth, or an empty string.
func findContact(m *market.JSONMember) string {
	if isContact(m.Name) {
		return string(m.Name)
	}
	if m.Kind != market.JSONObject && m.Kind != market.JSONArray {
		return ""
	}
	var value any
	if err := json.Unmarshal(m.Text, &value); err != nil {
		panic("BUG: a member that was checked is no JSON: " + err.Error())
	}
	if path := contactIn(value); path != "" {
		return string(m.Name) + path
	}
	return ""
}

func contactIn(value any) string {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if isContact([]byte(name)) {
				return "." + name
			}
			if path := contactIn(inner); path != "" {
				return "." + name + path
			}
		}
	case []any:
		for i, inner := range value {
			if path := contactIn(inner); path != "" {
				return "." + strconv.Itoa(i) + path
			}
		}
	}
	return ""
}
