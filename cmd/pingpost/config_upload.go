package main

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/config"
	"pingpost/server/admin"
)

// configChangeResult is the admin API's answer to a sent configuration or to a taken side of the drift.
// It has the changes, the values that the exchange does not apply, and the warnings.
type configChangeResult struct {
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"`
	Warnings  []string `json:"warnings"`
}

// format returns one line for each change, unapplied value and warning. A line for a value
// that is not applied begins with an exclamation mark.
func (v *configChangeResult) format(colors terminal.Colors) string {
	var b strings.Builder
	for _, change := range v.Changes {
		b.WriteString(change + "\n")
	}
	for _, value := range v.Unapplied {
		b.WriteString("! " + value + "\n")
	}
	for _, warning := range v.Warnings {
		b.WriteString("warning: " + warning + "\n")
	}
	return colors.PaintLines(b.String(), map[string]func(string) string{
		"+ ": colors.Green, "- ": colors.Red, "~ ": colors.Yellow, "! ": colors.Yellow, "warning: ": colors.Yellow,
	})
}

// uploadConfig sends a configuration file to the exchange, with the values that this
// command's environment has for its variables. With dryRun the exchange only returns the
// differences and changes nothing.
func uploadConfig(f *client.AdminFlags, path string, dryRun bool) (*configChangeResult, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	variables, err := config.CollectValuesOfSetVariables(path, document, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	flags := *f
	if len(variables) > 0 {
		flags.ContentType = admin.TypeApply
		if document, err = json.Marshal(map[string]any{"document": string(document), "variables": variables}); err != nil {
			return nil, err
		}
	}
	query := ""
	if dryRun {
		query = "?" + url.Values{"dry": {"1"}}.Encode()
	}
	result := new(configChangeResult)
	if _, err := flags.CallJSON("PUT", "/admin/v1/config"+query, document, result); err != nil {
		return nil, err
	}
	return result, nil
}
