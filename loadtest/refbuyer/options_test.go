package refbuyer

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	rows := []struct {
		options Options
		want    string
	}{
		{Options{RejectRate: -0.1}, "reject rate"},
		{Options{RejectRate: math.NaN()}, "reject rate"},
		{Options{FailRate: 1.1}, "fail rate"},
		{Options{NoBidRate: 1.1}, "no-bid rate"},
		{Options{ExpireEarly: -1}, "expire-early rate"},
		{Options{MalformedRate: 2}, "malformed rate"},
		{Options{MalformedPostRate: 2}, "malformed post rate"},
		{Options{Currency: "usd"}, "currency"},
		{Options{Valid: -1}, "valid for"},
		{Options{Valid: 25 * time.Hour}, "valid for"},
		{Options{TokenLifetime: time.Millisecond}, "token lifetime"},
		{Options{TokenLifetime: 1500 * time.Millisecond}, "token lifetime"},
		{Options{OAuth: OAuth{Client: "acme"}}, "oauth"},
		{Options{PingsASecond: -1}, "rate of"},
		{Options{PingsASecond: maxRate + 1}, "rate of"},
		{Options{Remember: -1}, "remember"},
		{Options{RememberPings: maxRemember + 1}, "remember"},
		{Options{Listen: "nowhere.invalid:0"}, "cannot listen"},
		{Options{Listen: "127.0.0.1"}, "cannot listen"},
	}
	for _, row := range rows {
		b, err := New(row.options)
		if err == nil {
			_ = b.Close()
			t.Errorf("%+v was taken", row.options)
			continue
		}
		if !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row.options, err)
		}
	}
	_, err := New(Options{RejectRate: 2, FailRate: 2})
	if err == nil || !strings.Contains(err.Error(), "reject rate") || !strings.Contains(err.Error(), "fail rate") {
		t.Errorf("two mistakes at once: %v", err)
	}
}

// TestDisturb: chaos sets only missing options, to valid values.
func TestDisturb(t *testing.T) {
	mine := Options{NoBidRate: 0.5, PingsASecond: 7, Latency: Uniform{}, PostLatency: Exponential{}}
	mine.Disturb()
	if mine.NoBidRate != 0.5 || mine.PingsASecond != 7 || mine.Latency != (Uniform{}) || mine.PostLatency != (Exponential{}) {
		t.Errorf("chaos has changed what was asked for: %+v", mine)
	}
	var all Options
	all.Disturb()
	for name, share := range map[string]float64{
		"no-bid": all.NoBidRate, "reject": all.RejectRate, "fail": all.FailRate, "malformed": all.MalformedRate,
		"malformed post": all.MalformedPostRate, "expire early": all.ExpireEarly,
	} {
		if share <= 0 || share > 0.3 {
			t.Errorf("a %s rate of %v is no small share", name, share)
		}
	}
	if all.PingsASecond == 0 || all.Latency == nil || all.PostLatency == nil {
		t.Errorf("chaos leaves something out: %+v", all)
	}
	all.complete()
	if err := all.check(); err != nil {
		t.Error(err)
	}
}
