package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/server/admin"
)

type configCmd struct {
	Drift configDriftCmd    `cmd:"" help:"Show where the configuration file differs from the exchange."`
	Take  configTakeSideCmd `cmd:"" help:"Take the file's or the exchange's side of the differences."`
}

type configDriftCmd struct {
	client.AdminFlags
	JSON bool `name:"json" help:"Print the admin API's answer unchanged."`
}

// Help returns the text that --help shows after the usage line.
func (configDriftCmd) Help() string {
	return `With provisioning: seed, the exchange creates the suppliers, buyers, lists and
campaigns of its configuration file at the first start. After that, it keeps them
itself, and operators change them. If the file changes later, the exchange does not
follow it. This command shows such entries. Each line says what the exchange would
change if you took the file's side. A change that operators made in the exchange
alone is not shown.

The exit code is 2 if the file differs, otherwise 0.`
}

// Run prints the drift of the running exchange. The exit code is 2 if there is any, and 1 if the
// exchange cannot compare its file.
func (c *configDriftCmd) Run(out io.Writer) error {
	var drift admin.ConfigDrift
	document, err := c.CallJSON("GET", "/admin/v1/config/drift", nil, &drift)
	if err != nil {
		return err
	}
	if c.JSON {
		if _, err := out.Write(document); err != nil {
			return err
		}
	} else if _, err := io.WriteString(out, formatDrift(&drift)); err != nil {
		return err
	}
	switch {
	case drift.FileError != "":
		return fmt.Errorf("the exchange cannot compare its configuration file: %s", drift.FileError)
	case len(drift.Entries) > 0:
		return terminal.ExitCodeError(2)
	}
	return nil
}

// formatDrift returns the drift as text: each entry with its changes, or a line that there is no
// difference. It returns "" if the exchange could not compare its file.
func formatDrift(drift *admin.ConfigDrift) string {
	var b strings.Builder
	switch {
	case drift.Enforced:
		return "no difference: with provisioning: enforce, " + drift.File + " always applies\n"
	case len(drift.Entries) == 0 && drift.FileError != "":
		return ""
	case len(drift.Entries) == 0:
		return "no difference\n"
	}
	for i := range drift.Entries {
		entry := &drift.Entries[i]
		fmt.Fprintf(&b, "%s: %s in %s\n", entry.Entry, entry.Change, drift.File)
		for _, change := range entry.Changes {
			b.WriteString("  " + change + "\n")
		}
	}
	b.WriteString("\nTake one side: pingpost config take file, or pingpost config take exchange\n")
	return b.String()
}

type configTakeSideCmd struct {
	client.AdminFlags
	Side    string   `arg:"" enum:"file,exchange" help:"file: the exchange takes over the file's version. exchange: the exchange keeps its own version."`
	Entries []string `arg:"" optional:"" help:"Entries as pingpost config drift prints them, such as buyers[buy_blue]; all by default."`
}

// Help returns the text that --help shows after the usage line.
func (configTakeSideCmd) Help() string {
	return `With file, the exchange creates and replaces entries as the file has them, and
removes entries that are no longer in the file. With exchange, it changes nothing: the
differences count as accepted until the file changes again. The command does not
change the file. The values of secrets come from the environment of the exchange.`
}

// Run takes one side of the drift and prints the changes.
func (c *configTakeSideCmd) Run(out io.Writer) error {
	body, err := json.Marshal(admin.ConfigDriftResolution{Side: admin.DriftSide(c.Side), Entries: c.Entries})
	if err != nil {
		return err
	}
	var changed configChangeResult
	if _, err := c.CallJSON("POST", "/admin/v1/config/drift", body, &changed); err != nil {
		return err
	}
	if len(changed.Changes) == 0 {
		changed.Changes = []string{"nothing changed in the exchange; the differences are accepted"}
	}
	_, err = io.WriteString(out, changed.format(terminal.ColorsOf(os.Stdout)))
	return err
}
