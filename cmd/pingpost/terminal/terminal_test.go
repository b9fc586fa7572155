package terminal

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pingpost/engine/market"
	"pingpost/internal/must"
)

func TestWrapText(t *testing.T) {
	for _, row := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, nil},
		{"   ", 10, nil},
		{"one", 3, []string{"one"}},
		{"one two", 7, []string{"one two"}},
		{"one two", 6, []string{"one", "two"}},
		{"a muchlongerword b", 5, []string{"a", "muchl", "onger", "word", "b"}},
		{"a \x1b[31m\u009bb\x00", 20, []string{"a \ufffd[31m\ufffdb\ufffd"}},
		{"äöü äöü", 3, []string{"äöü", "äöü"}},
	} {
		if got := WrapText(row.text, row.width); !slices.Equal(got, row.want) {
			t.Errorf("%q in %d: %q, want %q", row.text, row.width, got, row.want)
		}
	}
}

func TestTable(t *testing.T) {
	var out Table
	out.Indent = "> "
	out.Row("buyer", "sold", "note")
	out.Row("buy_a", "7", "")
	out.Row("Zoë", "1,234", "fine")
	out.Row("buy_c", "-5", "12 left")
	want := "> buyer   sold  note\n> buy_a      7\n> Zoë    1,234  fine\n> buy_c     -5  12 left\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNumberFormats(t *testing.T) {
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := GroupThousands(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for m, want := range map[market.Money]string{
		0: "0.00", 7_500_000: "7.50", 1: "0.000001", 1_234_567_890_000: "1,234,567.89", -500_000: "-0.50", -1_200_000_000: "-1,200.00",
	} {
		if got := FormatMoney(m); got != want {
			t.Errorf("%d millionths are %s, want %s", m, got, want)
		}
	}
}

func TestProgressIsSilentWithoutTerminal(t *testing.T) {
	null := must.Value(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer null.Close()
	file := must.Value(os.Create(filepath.Join(t.TempDir(), "file")))(t)
	defer file.Close()
	for _, f := range []*os.File{null, file} {
		if IsTerminal(f) {
			t.Errorf("IsTerminal(%s) is true", f.Name())
		}
	}
	p := NewProgress(file)
	p.ShowThrottled("sent 1")
	p.End()
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%v, %v bytes", err, info.Size())
	}
}
