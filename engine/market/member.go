package market

// JSONKind is the form in which a member of a JSON object arrived.
type JSONKind uint8

const (
	JSONNull    JSONKind = 1
	JSONBoolean JSONKind = 2
	JSONNumber  JSONKind = 3
	JSONString  JSONKind = 4
	JSONObject  JSONKind = 5
	JSONArray   JSONKind = 6
)

// Member is one member of a JSON object that was checked already: its grammar
// is right, its UTF-8 is valid, and no other member has its name.
//
// Text is a string's unescaped characters, a number's digits, true, false or
// null, or the raw JSON of an object or an array. It belongs to whoever parsed
// it.
type Member struct {
	Name []byte
	Kind JSONKind
	Text []byte
}

// Missing tells whether the member says nothing: it is not there, null, or a
// string that is blank.
func (m *Member) Missing() bool {
	return m.Kind == 0 || m.Kind == JSONNull || m.Kind == JSONString && blank(m.Text)
}
