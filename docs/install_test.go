//go:build unix

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	installPage = "install.md"
	repository  = "pingpost" // what the pages take the repository's folder to be called
)

// installation is what the page about it has made: a folder, and an environment.
type installation struct {
	dir      string
	env      []string
	outcomes []outcome
	lacking  map[string]string // languages that are not here, and why
}

// install plays the page beside a copy of this repository, so that nothing is built
// into that.
func install(t *testing.T) *installation {
	t.Helper()
	made := &installation{dir: t.TempDir(), env: environ(), lacking: lacking(t)}
	if err := copied(filepath.Join(made.dir, repository), "..", strings.NewReplacer()); err != nil {
		t.Fatal(err)
	}
	pages, findings := read(installPage)
	if len(findings) > 0 {
		return made // they are told where the page's own turn is
	}
	s := newShell(t, made.dir, made.env)
	if made.outcomes = play(pages[0], s, newPorts(t), made.lacking); made.failed() {
		return made
	}
	env, err := s.environment()
	if err != nil {
		t.Fatal(err)
	}
	made.env = slices.DeleteFunc(env, func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return name == "PWD" || name == "OLDPWD" || name == "SHLVL" || name == "_"
	})
	return made
}

func (made *installation) failed() bool {
	return slices.ContainsFunc(made.outcomes, func(o outcome) bool { return o.wrong != "" })
}

// played plays a page in a folder of its own, after those that come first.
func (made *installation) played(t *testing.T, pages []*page) (all []outcome) {
	t.Helper()
	if pages[0].name == installPage {
		if pages = pages[1:]; made.failed() {
			t.Fatalf("%s could not be played to its end", installPage)
		}
	}
	ports := newPorts(t)
	s := newShell(t, made.place(t, ports), made.env)
	for _, p := range pages {
		outcomes := play(p, s, ports, made.lacking)
		all = append(all, outcomes...)
		if slices.ContainsFunc(outcomes, func(o outcome) bool { return o.wrong != "" }) {
			break
		}
	}
	return all
}

// place makes a folder for one page, in which everything lies that was installed. The
// repository's examples are copied once more, with this page's ports.
func (made *installation) place(t *testing.T, ports *ports) string {
	t.Helper()
	dir := t.TempDir()
	err := os.Mkdir(filepath.Join(dir, repository), 0o700)
	for _, from := range []string{".", repository} {
		entries, unread := os.ReadDir(filepath.Join(made.dir, from))
		if err == nil {
			err = unread
		}
		for _, entry := range entries {
			name := filepath.Join(from, entry.Name())
			if err == nil && name != repository && name != filepath.Join(repository, "examples") {
				err = os.Symlink(filepath.Join(made.dir, name), filepath.Join(dir, name))
			}
		}
	}
	if err == nil {
		err = copied(filepath.Join(dir, repository, "examples"), filepath.Join("..", "examples"), ports)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// environ is this process's, without what the program would take from it.
func environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(one string) bool {
		return strings.HasPrefix(one, "PINGPOST_") || strings.HasPrefix(one, "SANDBOX_") || strings.HasPrefix(one, "MAKE")
	})
	return append(env, "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false",
		"PIP_DISABLE_PIP_VERSION_CHECK=1")
}

// unkept are folders that are no part of what a reader has.
var unkept = map[string]bool{".git": true, "bin": true, "data": true, "tmp": true, "node_modules": true, "vendor": true}

// replacer puts other words into a text.
type replacer interface{ Replace(text string) string }

// copied copies a folder, with other words in its files.
func copied(to, from string, with replacer) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (unkept[entry.Name()] || strings.HasPrefix(entry.Name(), ".venv")):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !entry.Type().IsRegular() || unkept[entry.Name()]: // .git is a file in a work tree
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
