package exchange

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pingpost/config"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// TestSuppressionListFileChecks: the file must be a regular file with a number in each line. The
// import of a pipe does not wait for its writer.
func TestSuppressionListFileChecks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	plain, link, pipe := file("plain", "+12125550123\n# none\n\n+12125550124\n"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	must.Succeed(t, os.Symlink(plain, link))
	must.Succeed(t, syscall.Mkfifo(pipe, 0o600))
	for name, row := range map[string]struct{ path, want string }{
		"plain":        {plain, ""},
		"a link to it": {link, ""},
		"missing":      {filepath.Join(dir, "none"), "no such file"},
		"a folder":     {dir, "not a regular file"},
		"a device":     {os.DevNull, "not a regular file"},
		"a pipe":       {pipe, "not a regular file"},
		"letters":      {file("letters", "+12125550123\nnot a number\n"), "line 2"},
		"a long line":  {file("long", strings.Repeat("1", 10000)), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			list := &market.SuppressionListDefinition{ID: "dnc", Field: market.ListPhone, Hash: market.HashPlain}
			table, _, err := (&Exchange{settings: config.Settings{DataDir: t.TempDir()}}).importSuppressionList(list, new([32]byte), row.path)
			if row.want == "" {
				if err != nil || table.Len() != 2 {
					t.Errorf("want two entries, got %v, %v", table, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), `"dnc"`) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

// Excel and Windows begin text files with a byte order mark.
func TestByteOrderMarkIsNoPartOfList(t *testing.T) {
	var got []string
	sums := map[string]bool{}
	for _, text := range []string{"+14155550142\nx\ufeff\n", "\ufeff+14155550142\r\nx\ufeff\r\n"} {
		sum := must.Value(forEachSuppressionEntryLine(strings.NewReader(text), func(_ int, line []byte) error {
			got = append(got, string(line))
			return nil
		}, new(uint64)))(t)
		sums[sum] = true
	}
	if want := []string{"+14155550142", "x\ufeff", "+14155550142", "x\ufeff"}; !slices.Equal(got, want) || len(sums) != 1 {
		t.Errorf("got lines %q with %d hashes, want %q with one", got, len(sums), want)
	}
}

// The limit of a line does not count its line ending.
func TestListLineLimit(t *testing.T) {
	for length, wantError := range map[int]bool{maxLine - 1: false, maxLine: false, maxLine + 1: true, maxLine + 2: true} {
		for _, ending := range []string{"", "\n", "\r\n"} {
			text, found := strings.Repeat("x", length)+ending, 0
			if ending != "" {
				text += "next"
			}
			_, err := forEachSuppressionEntryLine(strings.NewReader(text), func(_ int, line []byte) error {
				if len(line) == length {
					found++
				}
				return nil
			}, new(uint64))
			if wantError != errors.Is(err, lineAtNumberTooLongError(1)) || wantError == (found == 1) {
				t.Errorf("a line of %d bytes that ends with %q: %v", length, ending, err)
			}
		}
	}
}
