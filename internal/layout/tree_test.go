package layout_test

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

// at returns the file and line of a position, for a finding.
func (s source) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(pos).Line)
}

// tree is the module on the disk.
type tree struct {
	module  string
	folders []string // at the top
	sources []source
	texts   map[string][]byte // every hand-written file, Go or not
}

// Folders that .gitignore keeps out of the repository.
var ignored = []string{"bin", "data", "tmp"}

// Folders of test input and of generated files.
var notWritten = []string{"testdata", "node_modules", "dist", "vendor"}

var textKinds = []string{
	".css", ".go", ".html", ".js", ".md", ".mod", ".php", ".proto", ".py",
	".sh", ".sql", ".ts", ".tsx", ".yaml", ".yml",
}

// readTree reads the module in fsys. A folder with another go.mod is another module: the
// tree has its texts, but not its Go sources. A tree without Go files is an error, because
// it would satisfy every rule.
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
		case isSkipped(name):
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
		return nil, errors.New("no package below the root: not the module's root")
	}
	return t, nil
}

// isSkipped reports whether a folder holds files that the project did not write. Hidden
// folders (of editors, of git) are skipped, except the CI's.
func isSkipped(name string) bool {
	base := path.Base(name)
	return slices.Contains(notWritten, base) || slices.Contains(ignored, name) ||
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
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	t.sources = append(t.sources, source{path: name, lines: fset.File(file.FileStart).LineCount(), fset: fset, file: file})
	return nil
}

func moduleName(mod []byte) string {
	for lines := bufio.NewScanner(bytes.NewReader(mod)); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
