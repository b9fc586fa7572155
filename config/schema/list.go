package schema

// List is a suppression list: who is not to be called or written to. Its
// entries are state; the file has the first ones.
type List struct {
	ID    string `json:"id"`
	Field string `json:"field"`
	Hash  string `json:"hash"`
	File  string `json:"file,omitempty"` // relative to the document's file
}

func (l *List) fill() { setDefault(&l.Hash, "plain") }
