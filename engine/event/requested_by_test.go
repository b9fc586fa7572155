package event

import (
	"reflect"
	"strings"
	"testing"
)

// TestBy: of each kind that has an operator, By tells who that was, and so does what
// people read of it.
func TestBy(t *testing.T) {
	kinds := 0
	for _, e := range everyKind() {
		fill(e)
		want := ""
		if field := reflect.ValueOf(e).Elem().FieldByName("By"); field.IsValid() {
			field.SetString("anna")
			want = "anna"
			kinds++
		}
		if got := RequestingOperator(e); got != want {
			t.Errorf("a %s was asked for by %q, want %q", e.Kind(), got, want)
		}
		if shown := strings.Contains(DescribeAsJSON(e), `"by":"anna"`); shown != (want != "") {
			t.Errorf("%s is described as %s", e.Kind(), DescribeAsJSON(e))
		}
	}
	if kinds < 13 {
		t.Errorf("%d kinds have an operator", kinds)
	}
}
