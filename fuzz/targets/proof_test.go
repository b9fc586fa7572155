package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/fuzz/mutant"
)

// seededFaults are faults that targets must detect with their seeds and kept inputs alone.
var seededFaults = []struct {
	target string
	mutant.Mutation
}{
	{"FuzzParsePhone", mutant.Mutation{Name: "an area code begins with 1", File: "engine/market/format/phone.go", Old: `area[0] >= '2' && string(exchange)`, New: `string(exchange)`}},
	{"FuzzParseEmail", mutant.Mutation{Name: "one label is a domain", File: "engine/market/format/email.go", Old: `return labels >= 2`, New: `return labels >= 1`}},
	{"FuzzMoney", mutant.Mutation{Name: "a little over the most", File: "engine/market/money.go", Old: `case m > MaxMoney, m == MaxMoney && droppedDigits:`, New: `case m > MaxMoney:`}},
	{"FuzzNumber", mutant.Mutation{Name: "the least integer overflows", File: "engine/market/format/number.go", Old: `case d.Negative && magnitude == math.MaxInt64+1:`, New: `case d.Negative && magnitude == math.MaxInt64+2:`}},
	{"FuzzSchedule", mutant.Mutation{Name: "hours run past the week's end", File: "engine/market/calendar/schedule.go", Old: `closesAtMinute += minutesInDay`, New: `closesAtMinute = minutesInDay`}},
	{"FuzzWindow", mutant.Mutation{Name: "weeks begin on Sunday", File: "engine/market/calendar/calendar.go", Old: `return day(floorDiv(int64(dayInPeriod)+mondayOffset, daysInWeek)*daysInWeek - mondayOffset)`, New: `return day(floorDiv(int64(dayInPeriod)+4, daysInWeek)*daysInWeek - 4)`}},
	{"FuzzMapping", mutant.Mutation{Name: "every letter is a capital", File: "engine/market/transform.go", Old: `case unicode.IsLetter(r) && letters == 0:`, New: `case unicode.IsLetter(r):`}},
	{"FuzzTimestamp", mutant.Mutation{Name: "second 60 is one too late", File: "engine/market/format/timestamp.go", Old: `seconds = 1`, New: `seconds = 2`}},
	{"FuzzBody", mutant.Mutation{Name: "33 deep", File: "internal/strictjson/object.go", Old: `MaxDepth  = 32 `, New: `MaxDepth  = 33 `}},
	{"FuzzElements", mutant.Mutation{Name: "one element less", File: "internal/strictjson/array.go", Old: `len(elementsToOneOverLimit) <= limit`, New: `len(elementsToOneOverLimit) < limit`}},
	{"FuzzRawHTTP", mutant.Mutation{Name: "the connection stays open behind a refused head", File: "server/public/routes.go", Old: "httperror.Write(ctx, id, bad)\n\t\tconnection.CloseAfterAnswerDrainUnlessTimeout(ctx, bad)", New: "httperror.Write(ctx, id, bad)"}},
	{"FuzzAnswer", mutant.Mutation{Name: "false is an error", File: "outbound/buyer/answer.go", Old: `return string(m.Text) == "false"`, New: `return false`}},
	{"FuzzExtract", mutant.Mutation{Name: "an escaped quote ends a string", File: "outbound/buyer/reading/json.go", Old: `case quoted && c == '\\':`, New: `case quoted && c == 0:`}},
	{"FuzzSign", mutant.Mutation{Name: "another text is signed", File: "outbound/webhook/signature/signature.go", Old: `signBody(key, seconds+".", body)`, New: `signBody(key, seconds+":", body)`}},
	{"FuzzRawAnswer", mutant.Mutation{Name: "the status is 000", File: "outbound/dial/head.go", Old: `!= ' ' || head[len(line)-3] == '0'`, New: `!= ' '`}},
	{"FuzzDocument", mutant.Mutation{Name: "a dollar is written as it is", File: "config/canonical/export.go", Old: `strings.ReplaceAll(syntax.QuoteForJSONAndYAML(text), "${", "$${")`, New: `syntax.QuoteForJSONAndYAML(text)`}},
	{"FuzzFolder", mutant.Mutation{Name: "no checksum", File: "wal/frame.go", Old: `return checksum(frame[:crcOffset], data) == binary.LittleEndian.Uint32(frame[crcOffset:])`, New: `return true`}},
}

// `go test` must fail on the targets of a broken program.
func TestTargetsDetectSeededFaults(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var all []mutant.Mutation
	packages := map[string]bool{"./server/public": true}
	for i := range seededFaults {
		all = append(all, seededFaults[i].Mutation)
		packages["./"+filepath.Dir(seededFaults[i].File)] = true
	}
	delete(packages, "./outbound/webhook/signature")
	packages["./outbound/webhook"] = true
	packages["./config"] = true // its targets test config/canonical as well
	overlay, err := mutant.WriteOverlay(root, t.TempDir(), all...)
	if err != nil {
		t.Fatal(err)
	}
	// The texts are checked in every run, because renames break them.
	if testing.Short() {
		t.Skip("long: make test-long builds a broken program")
	}
	args := []string{"test", "-overlay", overlay, "-run", "^Fuzz", "-vet", "off"}
	for dir := range packages {
		args = append(args, dir)
	}
	run := exec.CommandContext(t.Context(), "go", args...)
	run.Dir = root
	said, _ := run.CombinedOutput()
	for i := range seededFaults {
		if !strings.Contains(string(said), "--- FAIL: "+seededFaults[i].target+" (") {
			t.Errorf("%s: %s does not detect it", seededFaults[i].Name, seededFaults[i].target)
		}
	}
	if t.Failed() {
		t.Log(string(said[:min(len(said), 20_000)]))
	}
}
