package config

import (
	"errors"
	"io"
	"os"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// ParsedDocument is a parsed document with its defaults. It also has the nodes of the text, which
// give the positions of mistakes. It is immutable.
type ParsedDocument struct {
	Path     string
	Document *schema.Document

	root       *syntax.Node
	isAccepted func(at syntax.KeyPath) bool // reports whether the path is in an entry that the exchange has already; may be nil
}

// Load reads a document from a file. env looks up environment variables. The error is
// *syntax.Problems.
func Load(path string, env func(string) (string, bool)) (*ParsedDocument, error) {
	return loadFileOfBinder(&schema.Binder{Reader: &syntax.Reader{File: path, Env: env}})
}

// LoadAllowingUnsetVariables reads a document like Load, but accepts variables without a value. The
// exchange may have stored their values (sealed) at an earlier start. See UnsetEnvironmentVariable.
func LoadAllowingUnsetVariables(path string, env func(string) (string, bool)) (*ParsedDocument, error) {
	return loadFileOfBinder(&schema.Binder{Reader: &syntax.Reader{File: path, Env: env}, AllowUnset: true})
}

// loadFileOfBinder reads and parses the document at binder.File. The error is *syntax.Problems.
func loadFileOfBinder(binder *schema.Binder) (*ParsedDocument, error) {
	path := binder.File
	data, err := readFileTruncatedAboveLimit(path)
	if err != nil {
		return nil, syntax.Problems{{File: path, Message: "cannot be read: " + errorTextWithoutPath(err) + "; check the path and its permissions"}}.Err()
	}
	return parseDocument(binder, data, nil)
}

// readFileTruncatedAboveLimit reads a file, but at most one byte more than the largest document, so that
// the caller sees that it is too large.
func readFileTruncatedAboveLimit(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, syntax.MaxDocument+1))
}

// errorTextWithoutPath returns the text of an error without the file's path, because the problem
// that contains it has the path already.
func errorTextWithoutPath(err error) string {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	return err.Error()
}

// maxBindProblems is the number of mistakes in form (see Parse) above which a document is not
// compiled too, because further messages would only add noise.
const maxBindProblems = 100

// Parse reads a document from YAML or JSON. fileName names the file in problems, and paths in
// the document are relative to its folder. env looks up variables; nil means no variables.
//
// Parse returns *syntax.Problems if the document has mistakes in form: syntax, unknown keys, wrong
// types. The error then also has the mistakes in meaning (limits, references) that do not follow
// from them. Parse returns no error for a document whose only mistakes are in meaning; Compile does.
func Parse(fileName string, data []byte, env func(string) (string, bool)) (*ParsedDocument, error) {
	return parseDocument(&schema.Binder{Reader: &syntax.Reader{File: fileName, Env: env}}, data, nil)
}

// ParseSentDocument reads a document that came over the network. Only the variables that were sent
// with it count, never the exchange's environment: a sender could otherwise direct any of its
// values to an address. A secret or an address may use ${NAME} without a value, because the
// exchange may have stored the value.
func ParseSentDocument(fileName string, data []byte, variables map[string]string) (*ParsedDocument, error) {
	env := func(variable string) (string, bool) { value, ok := variables[variable]; return value, ok }
	return parseDocument(&schema.Binder{Reader: &syntax.Reader{File: fileName, Env: env}, Sent: true, AllowUnset: true}, data, nil)
}

// ParseStoredDocument reads a canonical document, such as the exchange stores it. Such a document
// contains no secret and no value of a variable, so variables may be unset.
func ParseStoredDocument(canonicalJSON []byte) (*ParsedDocument, error) {
	return parseDocument(&schema.Binder{Reader: new(syntax.Reader), AllowUnset: true}, canonicalJSON, nil)
}

// CollectValuesOfSetVariables returns the variables that a document names and the environment has, with
// their values. The error is *syntax.Problems if the document cannot be parsed.
func CollectValuesOfSetVariables(fileName string, data []byte, env func(string) (string, bool)) (values map[string]string, err error) {
	named := make(map[string]string)
	r := &syntax.Reader{File: fileName, Env: func(variable string) (string, bool) {
		value, ok := env(variable)
		if ok {
			named[variable] = value
		}
		return value, ok
	}}
	if r.Read(data) == nil {
		return nil, r.Problems.Err()
	}
	return named, nil
}

// parseDocument reads a document with the binder: see Parse. It calls beforeCompile, unless nil, on
// the document as read, before any check of limits and references.
func parseDocument(binder *schema.Binder, data []byte, beforeCompile func(*schema.Document)) (*ParsedDocument, error) {
	if binder.Env == nil {
		binder.Env = func(string) (string, bool) { return "", false }
	}
	root := binder.Read(data)
	if root == nil {
		return nil, binder.Problems.Err()
	}
	s := &ParsedDocument{Path: binder.File, root: root}
	if root.Kind == syntax.Null {
		binder.AddMistake(root.Position, "", "the document is empty")
		return nil, binder.Problems.Err()
	}
	s.Document = binder.Bind(root)
	if beforeCompile != nil {
		beforeCompile(s.Document)
	}
	if len(binder.Problems) == 0 {
		return s, nil
	}
	if root.Kind == syntax.Mapping && len(binder.Problems) <= maxBindProblems {
		binder.Problems = append(binder.Problems, s.compileDespiteFormMistakes(binder.Problems)...)
	}
	return nil, binder.Problems.Err()
}

// compileDespiteFormMistakes compiles a document with known mistakes in form, such as a wrong type. It
// returns the mistakes in limits and references that are not mere consequences of these.
func (s *ParsedDocument) compileDespiteFormMistakes(formMistakes syntax.Problems) (more syntax.Problems) {
	_, err := s.Compile()
	var found *syntax.Problems
	if !errors.As(err, &found) {
		return nil
	}
	for _, problem := range *found {
		if !hasProblemOverlappingPath(formMistakes, problem.Path) && !(hasProblemAffectingEntryIDs(formMistakes) && isPathOfEntryReference(problem.Path)) {
			more = append(more, problem)
		}
	}
	return more
}

// findNode returns the node at the path or, if the path does not exist, the deepest existing
// node on the way to it. exact reports whether the path exists.
func (s *ParsedDocument) findNode(at syntax.KeyPath) (nodeOrAncestor *syntax.Node, exact bool) {
	if s.root == nil {
		return new(syntax.Node), false
	}
	return s.root.FindDeepest(at)
}

// hasProblemOverlappingPath reports whether one of the problems is at the path, around it or inside
// it. A later problem at the path is then a mere consequence.
func hasProblemOverlappingPath(problems syntax.Problems, path string) bool {
	for _, known := range problems {
		if isAtOrInside(path, known.Path) || isAtOrInside(known.Path, path) {
			return true
		}
	}
	return false
}

// isAtOrInside reports whether path is outer or inside it.
func isAtOrInside(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// hasProblemAffectingEntryIDs reports whether one of the problems concerns an id. References to the entry
// would then be reported as unknown, which would be misleading.
func hasProblemAffectingEntryIDs(problems syntax.Problems) bool {
	for _, known := range problems {
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

// isPathOfEntryReference reports whether the value at the path is the id of another entry.
func isPathOfEntryReference(path string) bool {
	return strings.HasSuffix(path, ".buyer") || strings.Contains(path, ".suppliers[") || strings.Contains(path, ".not_suppliers[") || strings.Contains(path, ".suppression[")
}
