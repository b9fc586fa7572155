package market

import "fmt"

// FieldType is what the values of a field are.
type FieldType uint8

const (
	TypeString  FieldType = 1
	TypeInteger FieldType = 2 // an integral JSON number within int64
	TypeNumber  FieldType = 3
	TypeBoolean FieldType = 4
	TypeDate    FieldType = 5 // YYYY-MM-DD, a day that exists
	TypeEmail   FieldType = 6
	TypePhone   FieldType = 7
	TypeState   FieldType = 8
	TypeZIP     FieldType = 9 // five digits, or ZIP+4
	TypeEnum    FieldType = 10
	TypeURL     FieldType = 11 // absolute, http or https

	// These are the types of known fields; no configuration can name them.
	typeHTTPS     FieldType = 12
	typeTimestamp FieldType = 13 // RFC 3339
	fieldTypes    FieldType = 14
)

var fieldTypeNames = [fieldTypes]string{
	"", "string", "integer", "number", "boolean", "date", "email", "phone", "state",
	"zip", "enum", "url", "https url", "timestamp",
}

func (t FieldType) String() string {
	if t >= fieldTypes {
		return ""
	}
	return fieldTypeNames[t]
}

// ParseFieldType reads a configured type.
func ParseFieldType(name string) (FieldType, error) {
	for t := TypeString; t <= TypeURL; t++ {
		if fieldTypeNames[t] == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("%q is not a field type: use string, integer, number, boolean, date, email, phone, state, zip, enum or url", name)
}

// numeric tells whether min and max mean something.
func (t FieldType) numeric() bool { return t == TypeInteger || t == TypeNumber }

// textual tells whether the value is a JSON string.
func (t FieldType) textual() bool { return !t.numeric() && t != TypeBoolean }

// Unknown says what becomes of members that a campaign's mapping does not name.
type Unknown uint8

const (
	UnknownDrop   Unknown = 1
	UnknownKeep   Unknown = 2
	UnknownReject Unknown = 3
)

// ParseUnknown reads the configured word; an empty one is drop.
func ParseUnknown(name string) (Unknown, error) {
	switch name {
	case "", "drop":
		return UnknownDrop, nil
	case "keep":
		return UnknownKeep, nil
	case "reject":
		return UnknownReject, nil
	}
	return 0, fmt.Errorf("%q is not a rule for unknown members: use drop, keep or reject", name)
}

// FieldSpec is one field as an operator configures it; NewMapping judges it.
type FieldSpec struct {
	Name string // as it arrives
	To   string // as buyers and filters call it; empty: Name

	// Type may be zero for a known field, whose type stays what it is.
	Type     FieldType
	Required bool

	Values               []string // of an enum
	Min, Max             *string  // decimal digits, of an integer or a number
	MinLength, MaxLength *int     // characters, of anything that is text
	Pattern              string   // RE2 that the whole text must match

	// Default is taken where the field is missing. It is written in the form
	// DefaultKind: zero stands for the form that the type has.
	Default     *string
	DefaultKind JSONKind

	Transforms []Transform
	Coerce     bool // "2" is taken for 2
	Ping       bool // goes into pings
	Contact    bool // never goes into pings
}

// MappingSpec is a campaign's list of fields as an operator configures it.
type MappingSpec struct {
	Fields  []FieldSpec
	Unknown Unknown // zero: drop
}

// SpecError is one mistake in a MappingSpec.
type SpecError struct {
	Field   int    // index in Fields; -1: the list as a whole
	Key     string // the key at fault, as the configuration has it, such as "pattern"
	Message string // what is wrong, and what to do
}

func (e *SpecError) Error() string {
	if e.Field < 0 {
		return e.Key + ": " + e.Message
	}
	return fmt.Sprintf("fields[%d].%s: %s", e.Field, e.Key, e.Message)
}

// FieldError is one failing field of a request. It never holds the value.
type FieldError struct {
	Field    string // dotted path
	Code     string // one of errcode.Fields
	Expected string // the expected form, in words
}
