//go:build unix

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

const (
	installPage = "install.md"
	repository  = "pingpost" // the repository's folder in the pages
)

// installation is the result of install.md: a folder and an environment.
type installation struct {
	dir      string
	env      []string
	outcomes []outcome
	missing  map[string]string // missing languages with the reasons
}

// install runs install.md beside a copy of this repository, so that the commands change nothing
// here.
func install(t *testing.T) *installation {
	t.Helper()
	inst := &installation{dir: t.TempDir(), env: environ(), missing: missingLanguages(t)}
	must.Succeed(t, copyFolder(filepath.Join(inst.dir, repository), "..", strings.NewReplacer()))
	pages, findings := readPages(installPage)
	if len(findings) > 0 {
		return inst // the test of this page reports them
	}
	s := newShell(t, inst.dir, inst.env)
	if inst.outcomes = runPage(pages[0], s, newPorts(t), inst.missing); inst.failed() {
		return inst
	}
	env := must.Value(s.environment())(t)
	inst.env = slices.DeleteFunc(env, func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return name == "PWD" || name == "OLDPWD" || name == "SHLVL" || name == "_"
	})
	return inst
}

func (inst *installation) failed() bool {
	return slices.ContainsFunc(inst.outcomes, func(o outcome) bool { return o.failure != "" })
}

// runPages runs pages in a new folder.
func (inst *installation) runPages(t *testing.T, pages []*page) (all []outcome) {
	t.Helper()
	if pages[0].name == installPage {
		if pages = pages[1:]; inst.failed() {
			t.Fatalf("%s failed", installPage)
		}
	}
	ports := newPorts(t)
	s := newShell(t, inst.makePageFolder(t, ports), inst.env)
	for _, p := range pages {
		outcomes := runPage(p, s, ports, inst.missing)
		all = append(all, outcomes...)
		if slices.ContainsFunc(outcomes, func(o outcome) bool { return o.failure != "" }) {
			break
		}
	}
	return all
}

// makePageFolder creates a folder for one page. It contains everything that was installed, and
// a copy of the repository's examples with this page's ports.
func (inst *installation) makePageFolder(t *testing.T, ports *ports) string {
	t.Helper()
	dir := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(dir, repository), 0o700))
	for _, from := range []string{".", repository} {
		for _, entry := range must.Value(os.ReadDir(filepath.Join(inst.dir, from)))(t) {
			name := filepath.Join(from, entry.Name())
			if name != repository && name != filepath.Join(repository, "examples") {
				must.Succeed(t, os.Symlink(filepath.Join(inst.dir, name), filepath.Join(dir, name)))
			}
		}
	}
	must.Succeed(t, copyFolder(filepath.Join(dir, repository, "examples"), filepath.Join("..", "examples"), ports))
	return dir
}

// environ returns this process's environment without the program's own variables.
func environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(one string) bool {
		return strings.HasPrefix(one, "PINGPOST_") || strings.HasPrefix(one, "SANDBOX_") || strings.HasPrefix(one, "MAKE")
	})
	return append(env, "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false",
		"PIP_DISABLE_PIP_VERSION_CHECK=1")
}

// skippedFolders are folders that a reader does not have.
var skippedFolders = map[string]bool{".git": true, "bin": true, "data": true, "tmp": true, "node_modules": true, "vendor": true}

// replacer replaces parts of a text.
type replacer interface{ Replace(text string) string }

// copyFolder copies a folder, with replaced texts in its files.
func copyFolder(to, from string, with replacer) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (skippedFolders[entry.Name()] || strings.HasPrefix(entry.Name(), ".venv")):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !entry.Type().IsRegular() || skippedFolders[entry.Name()]: // .git is a file in a work tree
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), []byte(with.Replace(string(text))), info.Mode())
	})
}
