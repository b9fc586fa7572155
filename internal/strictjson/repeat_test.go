package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/internal/strictjson"
)

// A repeated member is found at any position, among few members and among many.
func TestRepeatedMemberAmongMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "members")
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("field_%d", i)
		}
		first := rapid.IntRange(0, n-2).Draw(t, "first")
		second := rapid.IntRange(first+1, n-1).Draw(t, "second")
		repeat := rapid.Bool().Draw(t, "repeat")
		if repeat {
			names[second] = `\u0066` + names[first][1:]
		}
		body, offset := "{", 0
		for i, name := range names {
			if i > 0 {
				body += ","
			}
			if i == second {
				offset = len(body)
			}
			body += `"` + name + `":{"x":1}`
		}
		body += "}"
		var o strictjson.Object
		err := o.Parse([]byte(body))
		if !repeat {
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		var syntax *strictjson.SyntaxError
		ok := errors.As(err, &syntax)
		if !ok || syntax.Offset != offset {
			t.Fatalf("%v, want the fault at byte %d", err, offset)
		}
	})
}

func TestTheFirstRepeatedMemberIsReported(t *testing.T) {
	body := many(40, "k")
	body = body[:len(body)-1] + `,"k9":1,"k1":2,"k0":3}`
	var o strictjson.Object
	err := o.Parse([]byte(body))
	var syntax *strictjson.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != strings.LastIndex(body, `"k9"`) {
		t.Errorf("%v, want the fault at byte %d", err, strings.LastIndex(body, `"k9"`))
	}
}

// The cost of a member must hardly grow with their number: compare ns/op with the bytes.
func BenchmarkParseManyMembers(b *testing.B) {
	for _, n := range []int{100, 1000, 6000} {
		body := []byte(many(n, "k"))
		b.Run(fmt.Sprintf("%d members %d bytes", n, len(body)), func(b *testing.B) {
			var o strictjson.Object
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Parse(body); err != nil {
					b.Fatal(err)
				}
			}
		})
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
