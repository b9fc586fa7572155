package event

import (
	"reflect"
	"strings"
	"testing"
)

// TestRequestingOperator checks every kind with an operator, and its description.
func TestRequestingOperator(t *testing.T) {
	kinds := 0
	for _, e := range emptyEvents() {
		fill(e)
		want := ""
		if field := reflect.ValueOf(e).Elem().FieldByName("By"); field.IsValid() {
			field.SetString("anna")
			want = "anna"
			kinds++
		}
		if got := RequestingOperator(e); got != want {
			t.Errorf("%s: operator %q, want %q", e.Kind(), got, want)
		}
		if described := strings.Contains(DescribeAsJSON(e), `"by":"anna"`); described != (want != "") {
			t.Errorf("%s is described as %s", e.Kind(), DescribeAsJSON(e))
		}
	}
	if kinds < 13 {
		t.Errorf("%d kinds have an operator, want at least 13", kinds)
	}
}
