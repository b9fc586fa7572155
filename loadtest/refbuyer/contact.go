package refbuyer

import (
	"encoding/json"
	"strconv"

	"pingpost/engine/market"
)

// isContact tells whether a member of this name would say who a person is. The
// list is the buyer's own: a witness does not ask the accused.
func isContact(name []byte) bool {
	const longest = len("street_address")
	if len(name) > longest {
		return false
	}
	var room [longest]byte
	switch string(market.AppendLower(room[:0], name)) {
	case "first_name", "last_name", "full_name", "phone", "phone_number", "email", "email_address",
		"line1", "street", "street_address", "address_line1":
		return true
	}
	return false
}

// findContact gives the path of the first contact field in a member of a ping,
// at any depth, or nothing.
func findContact(m *market.Member) string {
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
