package config

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/config/syntax"
)

// TestSentReadsNoEnvironment: a document that is sent may have a variable without a value
// where the exchange may have sealed the value, and nowhere else.
func TestSentReadsNoEnvironment(t *testing.T) {
	env := lookup(map[string]string{"V": "canary-of-the-environment", "N": "7", "T": "true"})
	for name, row := range map[string]struct {
		text    string
		refused bool
	}{
		"the password":          {`admin: {password: "${V}"}`, false},
		"an API key":            {`suppliers: [{id: a, api_key: "${V}"}]`, false},
		"a part of a secret":    {`suppliers: [{id: a, api_key: "x${V}"}]`, false},
		"an escape":             {`tenant: "$${V}"`, false},
		"text":                  {`suppliers: [{id: a, name: "${V}"}]`, true},
		"a part of text":        {`suppliers: [{id: a, name: "x${V}x"}]`, true},
		"an id":                 {`suppliers: [{id: "${V}"}]`, true},
		"a path":                {`data_dir: ${V}`, true},
		"an address":            {`listen: ${V}`, true},
		"an item":               {`trusted_networks: ["${V}"]`, true},
		"a number":              {`suppliers: [{id: a, ingest_rate: ${N}}]`, true},
		"a boolean":             {`sandbox: ${T}`, true},
		"a duration":            {`history: ${N}d`, true},
		"a size":                {`limits: {body: "${N}KiB"}`, true},
		"a limit":               {`limits: {connections: ${N}}`, true},
		"in place of a mapping": {`limits: ${V}`, true},
		"in place of a list":    {`suppliers: ${V}`, true},
		"a word of a list":      {`campaigns: [{id: a, fields: [{name: b, type: enum, values: ["${V}"]}]}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSentDocument("sent", []byte(row.text), nil)
			said := fmt.Sprint(err)
			if got := strings.Contains(said, "only secrets may come from the environment here"); got != row.refused || strings.Contains(said, "canary") {
				t.Errorf("refused %v, want %v: %v", got, row.refused, err)
			}
			if _, err := Parse("file", []byte(row.text), env); strings.Contains(fmt.Sprint(err), "for secrets here") {
				t.Errorf("in a file: %v", err)
			}
		})
	}
}

// TestCanonicalWithinLimits: a document that is over the limits only once its
// defaults are written out is refused as the mistake it is: what was taken can
// always be read again.
func TestCanonicalWithinLimits(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"buyers":[`)
	for i := range 200_000 {
		fmt.Fprintf(&text, `{"id":"b%d"},`, i)
	}
	text.WriteString(`{"id":"last"}]}`)
	source, err := Parse("x", []byte(text.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = source.Compile(); err == nil || err.Error() != "x: with all defaults written out, the document is over 16 MB; split it into several exchanges" {
		t.Errorf("a form of more than %d bytes: %v", syntax.MaxDocument, err)
	}
}
