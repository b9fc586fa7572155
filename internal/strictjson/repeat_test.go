package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/internal/strictjson"
)

// TestRepeatedMemberIsFoundAnywhere covers small and large objects.
func TestRepeatedMemberIsFoundAnywhere(t *testing.T) {
	for _, n := range []int{2, 24, 25, 60} {
		for second := 1; second < n; second++ {
			for first := range second {
				body := objectWithMembers(n, "f")
				name := fmt.Sprintf(`"f%d":`, second)
				offset := strings.Index(body, name)
				body = strings.Replace(body, name, fmt.Sprintf(`"\u0066%d":`, first), 1)
				var o strictjson.Object
				var syntax *strictjson.SyntaxError
				if err := o.Parse([]byte(body)); !errors.As(err, &syntax) || syntax.Offset != offset {
					t.Fatalf("member %d of %d repeats member %d: %v, want an error at byte %d", second, n, first, err, offset)
				}
			}
		}
	}
}

func TestFirstRepeatedMemberIsReported(t *testing.T) {
	body := objectWithMembers(40, "k")
	body = body[:len(body)-1] + `,"k9":1,"k1":2,"k0":3}`
	var o strictjson.Object
	err := o.Parse([]byte(body))
	var syntax *strictjson.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != strings.LastIndex(body, `"k9"`) {
		t.Errorf("%v, want an error at byte %d", err, strings.LastIndex(body, `"k9"`))
	}
}

func BenchmarkParseLead(b *testing.B) {
	var o strictjson.Object
	body := []byte(lead)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := o.Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}
