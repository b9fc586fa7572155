package config

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/config/syntax"
)

// TestSentDocumentReadsNoEnvironment: a sent document may use unset variables only for secrets,
// because the exchange may have sealed their values.
func TestSentDocumentReadsNoEnvironment(t *testing.T) {
	env := lookup(map[string]string{"V": "canary-of-the-environment", "N": "7", "T": "true"})
	for name, row := range map[string]struct {
		text     string
		rejected bool
	}{
		"the password":       {`admin: {password: "${V}"}`, false},
		"an API key":         {`suppliers: [{id: a, api_key: "${V}"}]`, false},
		"a part of a secret": {`suppliers: [{id: a, api_key: "x${V}"}]`, false},
		"an escape":          {`tenant: "$${V}"`, false},
		"text":               {`suppliers: [{id: a, name: "${V}"}]`, true},
		"a part of text":     {`suppliers: [{id: a, name: "x${V}x"}]`, true},
		"an id":              {`suppliers: [{id: "${V}"}]`, true},
		"a path":             {`data_dir: ${V}`, true},
		"an address":         {`listen: ${V}`, true},
		"an item":            {`trusted_networks: ["${V}"]`, true},
		"a number":           {`suppliers: [{id: a, ingest_rate: ${N}}]`, true},
		"a boolean":          {`sandbox: ${T}`, true},
		"a duration":         {`history: ${N}d`, true},
		"a size":             {`limits: {body: "${N}KiB"}`, true},
		"a limit":            {`limits: {connections: ${N}}`, true},
		"a mapping":          {`limits: ${V}`, true},
		"a list":             {`suppliers: ${V}`, true},
		"a value in a list":  {`campaigns: [{id: a, fields: [{name: b, type: enum, values: ["${V}"]}]}]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseSentDocument("sent", []byte(row.text), nil)
			message := fmt.Sprint(err)
			if got := strings.Contains(message, "only secrets and addresses may come from the environment here"); got != row.rejected || strings.Contains(message, "canary") {
				t.Errorf("rejected %t, want %t: %v", got, row.rejected, err)
			}
			if _, err := Parse("file", []byte(row.text), env); strings.Contains(fmt.Sprint(err), "for secrets here") {
				t.Errorf("document from a file: %v", err)
			}
		})
	}
}

// TestCanonicalDocumentSizeLimit: a document whose defaults exceed the size limit is rejected,
// because every accepted document must be readable again.
func TestCanonicalDocumentSizeLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a document of 16 MB; make test-long does")
	}
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
		t.Errorf("a canonical document above %d bytes: %v", syntax.MaxDocument, err)
	}
}
