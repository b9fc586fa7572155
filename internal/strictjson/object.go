package strictjson

import "pingpost/engine/market"

const (
	MaxDepth  = 32      // levels of objects and arrays, including the outermost
	MaxNumber = 128     // bytes
	MaxBody   = 1 << 20 // bytes that Parse accepts; callers have much lower limits

	// Limits of the memory that an Object keeps between two bodies.
	maxKeptNames = 1024
	maxKeptBytes = 64 << 10
)

// Object is a parsed JSON object. The zero Object is ready for use. Callers reuse Objects from a
// pool, by one goroutine at a time, and then Parse does not allocate.
//
// Names and texts alias the body, or the Object's memory if they have escapes. So they are valid
// until the next Parse or a change of the body.
type Object struct {
	members []market.Member
	scan    scanner
}

// Parse parses a body that must be one JSON object. After an error, which is a *SyntaxError, the
// Object is empty.
func (o *Object) Parse(body []byte) error {
	o.Release()
	if len(body) > MaxBody {
		return &SyntaxError{Offset: MaxBody, Message: tooLarge}
	}
	o.scan.setText(body)
	if err := o.parseObject(); err != nil {
		clear(o.members)
		o.members = o.members[:0]
		return err
	}
	return nil
}

func (o *Object) parseObject() *SyntaxError {
	s := &o.scan
	s.skipSpace()
	if s.peekByte() != '{' {
		return s.newError(wantObject)
	}
	if err := s.scanObject(o); err != nil {
		return err
	}
	return s.requireEndOfText()
}

// Release removes the references to the body, and frees memory above the limits.
func (o *Object) Release() {
	clear(o.members)
	o.members = o.members[:0]
	if cap(o.members) > maxKeptNames {
		o.members = nil
	}
	o.scan.release()
}

// Members returns the object's members in the order of the text.
func (o *Object) Members() []market.Member { return o.members }

// Lookup finds a member by its exact name.
func (o *Object) Lookup(name string) (m market.Member, ok bool) {
	for i := range o.members {
		if string(o.members[i].Name) == name {
			return o.members[i], true
		}
	}
	return m, false
}

// ParseMember parses a member of this object into another Object, whose members alias the same
// body. It returns false if the member is not an object.
func (o *Object) ParseMember(m market.Member, into *Object) bool {
	if into == o {
		panic("BUG: an object cannot parse a member into itself")
	}
	if m.Kind != market.JSONObject {
		into.Release()
		return false
	}
	return into.Parse(m.Text) == nil
}
