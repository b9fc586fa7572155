package pingpost_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// source is one Go file of the module.
type source struct {
	path  string // slash-separated, from the root
	lines int
	fset  *token.FileSet
	file  *ast.File
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// at names a place in the file, for a finding.
func (s source) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(pos).Line)
}

// tree is the module as it stands on the disk.
type tree struct {
	module  string
	folders []string // at the top
	sources []source
	texts   map[string][]byte // every file that is written by hand, Go or not
}

// Kept out of the repository by .gitignore; what stands there is nobody's.
var unkept = []string{"bin", "data", "tmp"}

// Folders whose content is input, or was made by a program.
var unwritten = []string{"testdata", "node_modules", "dist", "vendor"}

var textKinds = []string{
	".css", ".go", ".html", ".js", ".md", ".mod", ".php", ".proto", ".py",
	".sh", ".sql", ".ts", ".tsx", ".yaml", ".yml",
}

// readTree reads the module in fsys. A folder with a go.mod of its own is
// another module: its words are read, its Go files are not. A tree without Go
// files is an error, since every rule would hold there.
func readTree(fsys fs.FS) (*tree, error) {
	t := &tree{texts: map[string][]byte{}}
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	if t.module = moduleName(mod); t.module == "" {
		return nil, errors.New("go.mod: no module line")
	}
	var others []string
	err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return t.add(fsys, name)
		case name == ".":
			return nil
		case passedOver(name):
			return fs.SkipDir
		}
		if !strings.Contains(name, "/") {
			t.folders = append(t.folders, name)
		}
		if _, err := fs.Stat(fsys, name+"/go.mod"); err == nil {
			others = append(others, name+"/")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.sources = slices.DeleteFunc(t.sources, func(s source) bool {
		return slices.ContainsFunc(others, func(dir string) bool { return strings.HasPrefix(s.path, dir) })
	})
	if !slices.ContainsFunc(t.sources, func(s source) bool { return !s.isTest() && s.dir() != "." }) {
		return nil, errors.New("no package below the root: this is not the tree")
	}
	return t, nil
}

// passedOver holds for folders that are not the project's own writing. Of the
// hidden ones (an editor's, git's) only the CI's is.
func passedOver(name string) bool {
	base := path.Base(name)
	return slices.Contains(unwritten, base) || slices.Contains(unkept, name) ||
		strings.HasPrefix(base, ".") && name != ".ci"
}

func (t *tree) add(fsys fs.FS, name string) error {
	base := path.Base(name)
	if !slices.Contains(textKinds, path.Ext(base)) && base != "Makefile" && path.Dir(name) != ".ci" {
		return nil
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	t.texts[name] = text
	if path.Ext(base) != ".go" {
		return nil
	}
	s, err := parseSource(name, text)
	if err != nil {
		return err
	}
	t.sources = append(t.sources, s)
	return nil
}

func parseSource(name string, text []byte) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	return source{path: name, lines: countLines(text), fset: fset, file: file}, err
}

// countLines counts as an editor does: a last line need not end in a newline.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func moduleName(mod []byte) string {
	for lines := bufio.NewScanner(bytes.NewReader(mod)); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
