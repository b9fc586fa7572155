package main

import (
	"strings"
	"testing"
)

// On a terminal, errors are red and long work shows a percentage. NO_COLOR switches colors off.
func TestTerminalShowsColorsAndProgress(t *testing.T) {
	for noColor, want := range map[string]string{"": "\x1b[31mpingpost:\x1b[0m unexpected", "1": "pingpost: unexpected"} {
		t.Setenv("NO_COLOR", noColor)
		terminal := newPseudoTerminal(t)
		code := terminal.run(func() {}, "sned")
		terminal.tty.Close()
		<-terminal.outputClosed
		if screen := terminal.screen(); code != usageExitCode || !strings.HasPrefix(screen, want) {
			t.Errorf("NO_COLOR=%q: exit %d, %q, want %q", noColor, code, screen, want)
		}
	}
	dir, _ := recordLog(t, 1)
	terminal := newPseudoTerminal(t)
	code := terminal.run(func() {}, "log", "verify", dir)
	terminal.tty.Close()
	<-terminal.outputClosed
	if screen := terminal.screen(); code != 0 || !strings.Contains(screen, "reading the log  0 %") || !strings.Contains(screen, "good") {
		t.Errorf("exit %d, %q", code, screen)
	}
}
