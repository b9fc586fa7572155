package console

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/api"
	"pingpost/server/servertest"
)

var testObjects = Objects{Campaign: "cmp_1", Buyer: "buy_1", Supplier: "sup_1", Lead: "lead_1", Phone: "4155550142", Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}

// TestOperationsAreComplete: each GET of the admin API is measured or excluded with a reason.
func TestOperationsAreComplete(t *testing.T) {
	t.Parallel()
	measured := map[string]bool{}
	for _, o := range Operations(&testObjects) {
		route, _, _ := strings.Cut(strings.TrimPrefix(o.Name, "GET "), ",")
		measured[route] = true
	}
	known := 0
	for operation := range servertest.QueryParameters(t, api.AdminYAML()) {
		route, isGet := strings.CutPrefix(operation, "GET /admin/v1/")
		if !isGet {
			continue
		}
		known++
		if measured[route] == (Excluded[route] != "") {
			t.Errorf("%s is measured: %v, is excluded: %q", route, measured[route], Excluded[route])
		}
	}
	if known < 40 {
		t.Errorf("the document has only %d GETs", known)
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	operations := Operations(&testObjects)
	var sent []string
	times, err := Measure(operations, 3, func(o *Operation) error { sent = append(sent, o.Path); return nil })
	if err != nil || len(times) != len(operations) || len(sent) != 3*len(operations) || !slices.Equal(sent[:len(operations)], sent[len(operations):2*len(operations)]) {
		t.Errorf("%d times of %d operations from %d requests: %v", len(times), len(operations), len(sent), err)
	}
	if got := (&Times{Milliseconds: []float64{9, 1, 5}}); got.Median() != 5 || got.Max() != 9 {
		t.Errorf("median %v and max %v of %v", got.Median(), got.Max(), got.Milliseconds)
	}
	broken := errors.New("broken")
	if _, err := Measure(operations, 1, func(*Operation) error { return broken }); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), operations[0].Name) {
		t.Errorf("an error of a request: %v", err)
	}
}
