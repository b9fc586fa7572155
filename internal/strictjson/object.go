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

// Object is a parsed JSON object. The zero Object is ready for use. One goroutine at a time
// uses an Object. A caller that reuses it from a pool parses without allocations.
//
// The names and texts of its members point into the parsed body, or into the Object if they
// have escapes. They are valid until the next Parse or a change of the body.
type Object struct {
	members []market.JSONMember
	scan    scanner
}

// Parse parses a body that must be one JSON object, and replaces the members of an earlier
// Parse. The error is a *SyntaxError. After an error the Object has no members.
func (o *Object) Parse(body []byte) error {
	o.ClearForReuse()
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
		return s.newErrorOrTextEnds(wantObject)
	}
	if err := s.scanObject(o); err != nil {
		return err
	}
	return s.requireEndOfText()
}

// ClearForReuse removes all references to the parsed body, so that the Object can be used again or
// go back to a pool. It keeps its own memory, unless a large body made it grow.
func (o *Object) ClearForReuse() {
	clear(o.members)
	o.members = o.members[:0]
	if cap(o.members) > maxKeptNames {
		o.members = nil
	}
	o.scan.clearForReuse()
}

// Members returns the object's members in the order of the parsed text.
func (o *Object) Members() []market.JSONMember { return o.members }

// Lookup returns the member with exactly this name. ok is false if the object has no such
// member.
func (o *Object) Lookup(name string) (m market.JSONMember, ok bool) {
	for i := range o.members {
		if string(o.members[i].Name) == name {
			return o.members[i], true
		}
	}
	return m, false
}

// ParseMember parses the value of the member m, which must be an object, into another Object.
// It returns false if the value is not an object. The result points into the same body as this
// object.
func (o *Object) ParseMember(m market.JSONMember, into *Object) (isObject bool) {
	if into == o {
		panic("BUG: an object cannot parse a member into itself")
	}
	if m.Kind != market.JSONObject {
		into.ClearForReuse()
		return false
	}
	return into.Parse(m.Text) == nil
}
