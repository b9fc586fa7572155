package engine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

func leadNumber(n int) market.LeadID { return market.LeadID{byte(n), byte(n >> 8), byte(n >> 16), 1} }

// What is kept is what was put in last, whole, and never more than the limits.
func TestFreshEventsAreFew(t *testing.T) {
	const long = maxFreshTexts / 64
	for name, test := range map[string]struct {
		text, kept int
	}{"many": {10, maxFresh}, "long ones": {long, 64}, "of no text": {0, maxFresh}} {
		t.Run(name, func(t *testing.T) {
			var f fresh
			const more = 5000
			for n := range test.kept + more {
				f.keep(leadNumber(n), market.WebhookPosted, tale{campaign: market.Ref(n), uuid: strings.Repeat("x", test.text)})
			}
			if len(f.tales) != test.kept || len(f.queue) != test.kept || f.texts != test.kept*test.text {
				t.Errorf("%d tales, %d in the queue, %d bytes; want %d", len(f.tales), len(f.queue), f.texts, test.kept)
			}
			for _, n := range []int{0, more - 1} {
				if _, ok := f.find(leadNumber(n), market.WebhookPosted); ok {
					t.Errorf("the %d. is still there", n)
				}
			}
			for _, n := range []int{more, test.kept + more - 1} {
				if got, ok := f.find(leadNumber(n), market.WebhookPosted); !ok || got.campaign != market.Ref(n) {
					t.Errorf("the %d. is %+v, %v", n, got, ok)
				}
			}
		})
	}
}

// Against the plainest thing that keeps anything.
func TestFreshEventsAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f fresh
		all := map[tellable]tale{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			key := tellable{leadNumber(rapid.IntRange(0, 20).Draw(t, "lead")), market.WebhookType(rapid.IntRange(0, 3).Draw(t, "type"))}
			if rapid.Bool().Draw(t, "put") {
				told := tale{uuid: rapid.StringN(0, 9, -1).Draw(t, "uuid"), reason: "r", payout: market.Money(rapid.IntRange(0, 9).Draw(t, "payout"))}
				f.keep(key.lead, key.what, told)
				if _, twice := all[key]; !twice {
					all[key] = told
				}
			}
			got, ok := f.find(key.lead, key.what)
			if want, known := all[key]; ok != known || got != want {
				t.Fatalf("%v is %+v, want %+v", key, got, want)
			}
		}
		texts := 0
		for _, told := range all {
			texts += told.texts()
		}
		if f.texts != texts || len(f.queue) != len(all) {
			t.Errorf("%d bytes in %d tales, want %d in %d", f.texts, len(f.queue), texts, len(all))
		}
	})
}
