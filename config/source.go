package config

import (
	"errors"
	"io"
	"os"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// Source is a document that was read, with its defaults, and the text's shape
// to find positions in. It is not to be changed.
type Source struct {
	Path     string
	Document *schema.Document

	root       *syntax.Node
	isAccepted func(at syntax.Path) bool // of an entry that the exchange has already; nil: none is
}

// Load reads a document from a file. The error is *Problems.
func Load(path string, env func(string) (string, bool)) (*Source, error) {
	return load(&schema.Binder{Reader: &syntax.Reader{File: path, Env: env}})
}

// LoadWithSealed is Load for an exchange, which may have sealed the values of variables that
// the environment has no longer: see Kept.
func LoadWithSealed(path string, env func(string) (string, bool)) (*Source, error) {
	return load(&schema.Binder{Reader: &syntax.Reader{File: path, Env: env}, AllowUnset: true})
}

func load(r *schema.Binder) (*Source, error) {
	path := r.File
	data, err := readFile(path)
	if err != nil {
		return nil, syntax.Problems{{File: path, Message: "cannot be read: " + plainError(err) + "; check the path and its permissions"}}.Err()
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
	return io.ReadAll(io.LimitReader(file, syntax.MaxDocument+1))
}

// plainError is the cause without the path, which the problem has already.
func plainError(err error) string {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// maxBindProblems is where a text has so much wrong with its form that judging its
// meaning as well would only add noise.
const maxBindProblems = 100

// Parse reads a document from YAML or JSON. The name stands for the file in
// problems, and paths are relative to its folder. A nil env has no variables.
// The error is *Problems: the mistakes in form, and those in meaning that are
// not mere echoes of them.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Source, error) {
	return parse(&schema.Binder{Reader: &syntax.Reader{File: name, Env: env}}, data, nil)
}

// ParseSent is Parse for a document that came over the network. Its variables are those
// that were sent with it; a nil map has none. The exchange's environment never counts: a
// sender could have any value of it sent to an address. Without a value, ${NAME} may stand
// for a secret or in an address: the exchange may have sealed the value.
func ParseSent(name string, data []byte, variables map[string]string) (*Source, error) {
	env := func(name string) (string, bool) { value, ok := variables[name]; return value, ok }
	return parse(&schema.Binder{Reader: &syntax.Reader{File: name, Env: env}, Sent: true, AllowUnset: true}, data, nil)
}

// ParseCanonical reads a canonical document, which has no secret and no variable's value.
func ParseCanonical(data []byte) (*Source, error) {
	return parse(&schema.Binder{Reader: new(syntax.Reader), AllowUnset: true}, data, nil)
}

// Variables are the variables that a document names and the environment has. The error is
// *Problems, where the document has no shape.
func Variables(name string, data []byte, env func(string) (string, bool)) (map[string]string, error) {
	named := make(map[string]string)
	r := &syntax.Reader{File: name, Env: func(name string) (string, bool) {
		value, ok := env(name)
		if ok {
			named[name] = value
		}
		return value, ok
	}}
	if r.Read(data) == nil {
		return nil, r.Problems.Err()
	}
	return named, nil
}

// parse calls complete, if there is one, before anything is judged by its meaning.
func parse(r *schema.Binder, data []byte, complete func(*schema.Document)) (*Source, error) {
	if r.Env == nil {
		r.Env = func(string) (string, bool) { return "", false }
	}
	root := r.Read(data)
	if root == nil {
		return nil, r.Problems.Err()
	}
	s := &Source{Path: r.File, root: root}
	if root.Kind == syntax.Null {
		r.Report(root.Position, "", "the document is empty")
		return nil, r.Problems.Err()
	}
	s.Document = r.Bind(root)
	if complete != nil {
		complete(s.Document)
	}
	if len(r.Problems) == 0 {
		return s, nil
	}
	if root.Kind == syntax.Mapping && len(r.Problems) <= maxBindProblems {
		r.Problems = append(r.Problems, s.compileProblems(r.Problems)...)
	}
	return nil, r.Problems.Err()
}

// compileProblems is what compiling says beyond the mistakes that are known.
func (s *Source) compileProblems(known syntax.Problems) (more syntax.Problems) {
	_, err := s.Compile()
	var found *syntax.Problems
	if !errors.As(err, &found) {
		return nil
	}
	for _, problem := range *found {
		if !hasRelated(known, problem.Path) && !(hasUnreadableID(known) && isReferencePath(problem.Path)) {
			more = append(more, problem)
		}
	}
	return more
}

// find is the node at the place, or the nearest around it.
func (s *Source) find(at syntax.Path) (*syntax.Node, bool) {
	if s.root == nil {
		return new(syntax.Node), false
	}
	return s.root.Find(at)
}

// hasRelated tells whether a problem at the path, or around it, or inside it, makes
// what a later step says of the path mere echo.
func hasRelated(p syntax.Problems, path string) bool {
	for _, known := range p {
		if within(path, known.Path) || within(known.Path, path) {
			return true
		}
	}
	return false
}

// within tells whether path is outer or lies inside it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// hasUnreadableID tells whether an id could not be read, so that references to it
// would seem to lead nowhere.
func hasUnreadableID(p syntax.Problems) bool {
	for _, known := range p {
		switch collection, rest, _ := strings.Cut(known.Path, "["); collection {
		case "suppliers", "buyers", "suppression_lists":
			_, inside, indexed := strings.Cut(rest, "]")
			if !indexed || inside == "" || inside == ".id" {
				return true
			}
		}
	}
	return false
}

// isReferencePath tells whether the path is one at which another's id stands.
func isReferencePath(path string) bool {
	return strings.HasSuffix(path, ".buyer") || strings.Contains(path, ".suppliers[") || strings.Contains(path, ".suppression[")
}
