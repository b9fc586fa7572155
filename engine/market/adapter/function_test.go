package adapter_test

import (
	"testing"

	"pingpost/engine/market/adapter"
)

// TestFunctions renders each function in a JSON list, which shows the kind of its result.
func TestFunctions(t *testing.T) {
	lead := []string{
		`state="CA"`, `zip="94107-1234"`, `city="san josé"`, `cars=2`, `homeowner=true`, `band="18-24"`, `born="1968-07-04"`,
		`note=" 0012.50 x "`, `consent_timestamp="2026-01-31T23:30:00.5-08:00"`, `ai_quality_score=0.820`,
	}
	rows := []struct{ template, want string }{
		{`.city | upper`, `"SAN JOSÉ"`},
		{`.state | lower`, `"ca"`},
		{`.city | title`, `"San José"`},
		{`.note | trim`, `"0012.50 x"`},
		{`.note | digits`, `"001250"`},
		{`.city | digits`, `null`},
		{`.state | sha256`, `"4b650e5c4785025dee7bd65e3c5c527356717d7a1c0bfef5b4ada8ca1e9cbe17"`},
		{`.line1 | upper`, `null`},
		{`upper "ab"`, `"AB"`},
		{`.cars | upper`, `"2"`},

		{`.line1 | default "none"`, `"none"`},
		{`.city | default "none"`, `"san josé"`},
		{`.line1 | default 5`, `5`},
		{`.line1 | default 1.50`, `1.50`},
		{`.line1 | default false`, `false`},
		{`.line1 | default .state`, `"CA"`},
		{`.line1 | default (.state | lower)`, `"ca"`},
		{`.line1 | default auction | first 4`, `"auc_"`},

		{`.city | first 3`, `"san"`},
		{`.city | last 2`, `"sé"`},
		{`.city | first 99`, `"san josé"`},
		{`.line1 | last 2`, `null`},
		{`.phone | national`, `"4155550123"`},
		{`.phone | national | first 3`, `"415"`},
		{`.state | national`, `"CA"`},
		{`.zip | first 5`, `"94107"`},
		{`.zip3`, `"941"`},

		{`.owns_home | map "true" "Y" "false" "N"`, `"Y"`},
		{`.tcpa_consent | map "true" "Y" "false" "N"`, `null`},
		{`.tcpa_consent | map "true" "Y" "N" | default "?"`, `"?"`},
		{`.cars | map 1 "one" 2 "two"`, `"two"`},
		{`.cars | map 1 "one" "many"`, `"many"`},
		{`.cars | map 1 "one" 3 "three"`, `null`},
		{`.state | map "CA" 6`, `6`},
		{`field "age band" | map "18-24" "young"`, `"young"`},

		{`"12.5" | number`, `12.5`},
		{`"1e3" | number`, `1e3`},
		{`.note | number`, `null`},
		{`"0x1" | number`, `null`},
		{`.cars | text`, `"2"`},
		{`.ai_quality_score`, `0.820`},
		{`.ai_quality_score | text`, `"0.820"`},
		{`.line1 | text`, `null`},

		{`.born | date "MM/DD/YYYY"`, `"07/04/1968"`},
		{`.born | date "YY-MM-DDThh:mm:ssZ"`, `"68-07-04T00:00:00Z"`},
		{`.consent_timestamp | date "YYYY-MM-DD hh:mm:ss"`, `"2026-02-01 07:30:00"`},
		{`.consent_timestamp | epoch`, `1769931000`},
		{`.consent_timestamp | epoch_ms`, `1769931000500`},
		{`.born | epoch`, `-47174400`},
		{`.state | date "YYYY"`, `null`},
		{`.line1 | epoch`, `null`},

		{`known .state`, `true`},
		{`known .line1`, `false`},
		{`not .owns_home`, `false`},
		{`not .line1`, `true`},
		{`and .state .owns_home`, `true`},
		{`and .state .line1`, `false`},
		{`or .line1 .state`, `true`},
		{`or .line1 .tcpa_consent`, `false`},
		{`eq .state "NV" "CA"`, `true`},
		{`eq .state "NV"`, `false`},
		{`eq .cars "2"`, `true`},
		{`eq .line1 .tcpa_consent`, `false`},
		{`ne .state "NV"`, `true`},
		{`ne .state "CA"`, `false`},
		{`ne .line1 "CA"`, `true`},
	}
	for _, row := range rows {
		if got := renderPost(t, "json", "[{{"+row.template+"}}]", lead...); got != "["+row.want+"]" {
			t.Errorf("%s: %s, want [%s]", row.template, got, row.want)
		}
	}
}

// TestFunctionsDoNotModifyLead also checks that insertions do not share buffers.
func TestFunctionsDoNotModifyLead(t *testing.T) {
	m := newMapping(t)
	a := compileChecked(t, m, adapter.NewPostTemplate, "json", `[{{.city | upper}}, {{.city | title}}, {{and (eq (.city | upper) "RENO") (eq (.city | lower) "reno")}}, {{.city}}]`)
	lead, failed := fill(m, person(`city="reno"`))
	if failed != nil {
		t.Fatal(failed)
	}
	for range 3 {
		if body, _ := a.AppendPost(nil, m, lead, postMetadata); string(body) != `["RENO", "Reno", true, "reno"]` {
			t.Fatalf("%s", body)
		}
	}
}
