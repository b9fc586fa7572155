package config

import (
	"errors"
	"io"
	"os"
	"reflect"
)

// Source is a document that was read, with its defaults, and the text's shape
// to find positions in. It is not to be changed.
type Source struct {
	Path     string
	Document *Document

	root     *node
	accepted func(at place) bool // of an entry that the exchange has already; nil: none is
}

// Load reads a document from a file. The error is *Problems.
func Load(path string, env func(string) (string, bool)) (*Source, error) {
	return load(&reader{file: path, env: env})
}

// LoadKept is Load for an exchange, which may have sealed the values of variables that
// the environment has no longer: see Kept.
func LoadKept(path string, env func(string) (string, bool)) (*Source, error) {
	return load(&reader{file: path, env: env, keeps: true})
}

func load(r *reader) (*Source, error) {
	path := r.file
	data, err := readFile(path)
	if err != nil {
		return nil, Problems{{File: path, Message: "cannot be read: " + plainError(err) + "; check the path and its permissions"}}.err()
	}
	return parse(r, data, nil)
}

// readFile reads no more than one byte past the limit.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxDocument+1))
}

// plainError is the cause without the path, which the problem has already.
func plainError(err error) string {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// manyMistakes is where a text has so much wrong with its form that judging its
// meaning as well would only add noise.
const manyMistakes = 100

// Parse reads a document from YAML or JSON. The name stands for the file in
// problems, and paths are relative to its folder. A nil env has no variables.
// The error is *Problems: the mistakes in form, and those in meaning that are
// not mere echoes of them.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Source, error) {
	return parse(&reader{file: name, env: env}, data, nil)
}

// ParseSent is Parse for a document that came over the network. Its variables are those
// that were sent with it; a nil map has none. The exchange's environment never counts: a
// sender could have any value of it sent to an address. Without a value, ${NAME} may stand
// for a secret or in an address: the exchange may have sealed the value.
func ParseSent(name string, data []byte, variables map[string]string) (*Source, error) {
	env := func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
	return parse(&reader{file: name, env: env, sent: true, keeps: true}, data, nil)
}

// ParseCanonical reads a canonical document, which has no secret and no variable's value.
func ParseCanonical(data []byte) (*Source, error) {
	return parse(&reader{keeps: true}, data, nil)
}

// Variables are the variables that a document names and the environment has. The error is
// *Problems, where the document has no shape.
func Variables(name string, data []byte, env func(string) (string, bool)) (map[string]string, error) {
	named := make(map[string]string)
	r := &reader{file: name, env: func(name string) (string, bool) {
		value, ok := env(name)
		if ok {
			named[name] = value
		}
		return value, ok
	}}
	if r.read(data) == nil {
		return nil, r.problems.err()
	}
	return named, nil
}

// parse calls complete, if there is one, before anything is judged by its meaning.
func parse(r *reader, data []byte, complete func(*Document)) (*Source, error) {
	if r.env == nil {
		r.env = func(string) (string, bool) { return "", false }
	}
	root := r.read(data)
	if root == nil {
		return nil, r.problems.err()
	}
	s := &Source{Path: r.file, Document: new(Document), root: root}
	if root.kind == nullKind {
		r.fail(root.position, "", "the document is empty")
		return nil, r.problems.err()
	}
	r.bind(root, "", reflect.ValueOf(s.Document).Elem())
	s.Document.fill()
	if complete != nil {
		complete(s.Document)
	}
	if len(r.problems) == 0 {
		return s, nil
	}
	if root.kind == mapKind && len(r.problems) <= manyMistakes {
		r.problems = append(r.problems, s.echoless(r.problems)...)
	}
	return nil, r.problems.err()
}

// echoless is what compiling says beyond the mistakes that are known.
func (s *Source) echoless(known Problems) (more Problems) {
	_, err := s.Compile()
	var found *Problems
	if !errors.As(err, &found) {
		return nil
	}
	for _, problem := range *found {
		if !known.hides(problem.Path) && !(known.hidesIDs() && isReference(problem.Path)) {
			more = append(more, problem)
		}
	}
	return more
}

// find is the node at the place, or the nearest around it.
func (s *Source) find(at place) (*node, bool) {
	if s.root == nil {
		return new(node), false
	}
	return s.root.find(at)
}
