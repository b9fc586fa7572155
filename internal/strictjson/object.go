package strictjson

import "pingpost/engine/market"

const (
	MaxDepth  = 32      // objects and arrays inside one another, the outermost included
	MaxNumber = 128     // bytes
	MaxBody   = 1 << 20 // bytes that Parse takes; callers bound bodies far below it

	// What an Object keeps of its memory between two bodies.
	keptNames = 1024
	keptBytes = 64 << 10
)

// Object is one parsed JSON object. The zero Object is ready; it is to be used
// again and again (from a pool of the caller's), by one goroutine at a time, for
// then Parse allocates nothing.
//
// Names and texts alias the body, or the Object's own memory where an escape
// had to be resolved. So they are good until the next Parse, and as long as the
// body is left alone.
type Object struct {
	members []market.Member
	scan    scanner
}

// Parse reads a body that must be one JSON object. An error is a *SyntaxError;
// then the Object is empty.
func (o *Object) Parse(body []byte) error {
	o.Release()
	if len(body) > MaxBody {
		return &SyntaxError{Offset: MaxBody, Message: tooLarge}
	}
	o.scan.start(body)
	if err := o.parse(); err != nil {
		clear(o.members)
		o.members = o.members[:0]
		return err
	}
	return nil
}

func (o *Object) parse() *SyntaxError {
	s := &o.scan
	s.space()
	if s.peek() != '{' {
		return s.fail(wantObject)
	}
	if err := s.object(o); err != nil {
		return err
	}
	return s.end()
}

// Release lets go of the body, and of memory that an ordinary one does not need.
func (o *Object) Release() {
	clear(o.members)
	o.members = o.members[:0]
	if cap(o.members) > keptNames {
		o.members = nil
	}
	o.scan.release()
}

// Members are the object's own members in the order of the text.
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

// Sub opens a member of this object that is an object itself, and tells whether
// it is one. What into gives aliases the same body.
func (o *Object) Sub(m market.Member, into *Object) bool {
	if into == o {
		panic("BUG: an object cannot be opened into itself")
	}
	if m.Kind != market.JSONObject {
		into.Release()
		return false
	}
	return into.Parse(m.Text) == nil
}
