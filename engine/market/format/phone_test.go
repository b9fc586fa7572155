package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"

	"pingpost/engine/market/format"
)

func TestParsePhone(t *testing.T) {
	for in, want := range map[string]string{
		"4155550123":                           "+14155550123",
		"(415) 555-0123":                       "+14155550123",
		"415.555.0123":                         "+14155550123",
		" 415-555-0123 ":                       "+14155550123",
		"1 (415) 555-0123":                     "+14155550123",
		"+1 415 555 0123":                      "+14155550123",
		"  +14155550123":                       "+14155550123",
		"+1-416-967-1111":                      "+14169671111", // Toronto
		"416-967-1111":                         "+14169671111",
		"555-555-0123":                         "+15555550123", // fictional, in any area
		"800 555 0100":                         "+18005550100",
		"+44 20 7946 0958":                     "+442079460958",
		"+44 (0)20 7946 0958":                  "+442079460958",
		"+49 30 901820":                        "+4930901820",
		"+49 30 12345678901":                   "+493012345678901", // 15 digits, the most of E.164
		"+49 30 123456789012":                  "",
		"+1 242 322 1234":                      "+12423221234", // the Bahamas: a partly assigned area code
		"340-774-1234":                         "+13407741234",
		"":                                     "",
		" ":                                    "",
		"+":                                    "",
		"555-0123":                             "",
		"415555012":                            "",
		"41555501234":                          "",
		"24155550123":                          "",
		"014155550123":                         "",
		"+01 415 555 0123":                     "",
		"0115255501234567":                     "",
		"442079460958":                         "", // needs a + for the United Kingdom
		"011442079460958":                      "",
		"155 555 0123":                         "",
		"415 155 0123":                         "",
		"415 055 0123":                         "",
		"0000000000":                           "",
		"1234567890":                           "",
		"5555555555":                           "",
		"(555) 555-0200":                       "", // beyond the fictional numbers, in no area
		"+999 1234567":                         "",
		"++14155550123":                        "",
		"(+1) 415 555 0123":                    "",
		"1+4155550123":                         "",
		"415-555-0123 x5":                      "",
		"415-555-CALL":                         "",
		"415/555/0123":                         "",
		"415-555-0123;ext=1":                   "",
		"tel:+14155550123":                     "",
		"4155550123\n":                         "",
		"415\t5550123":                         "",
		"4155550123\x00":                       "",
		"415\u00a0555\u00a00123":               "",
		"４１５５５５０１２３":                           "", // digits of full width
		"٤١٥٥٥٥٠١٢٣":                           "",
		"\u200b4155550123":                     "",
		"＋14155550123":                         "",
		"+1415555012345678":                    "",
		"4155550123" + strings.Repeat(" ", 60): "",
	} {
		got, ok := format.AppendPhoneAsE164([]byte("x"), []byte(in))
		if ok != (want != "") || string(got) != "x"+want {
			t.Errorf("%q: %q %v, want %q", in, got[1:], ok, want)
		}
	}
}

// libphonenumberE164 returns libphonenumber's result, but accepts fictional numbers as the
// contract does.
func libphonenumberE164(digits string) string {
	if len(digits) == 11 && digits[0] == '1' && digits[4:9] == "55501" && digits[1] >= '2' {
		return "+" + digits
	}
	number, err := phonenumbers.Parse("+"+digits, "")
	if err != nil || !phonenumbers.IsValidNumber(number) {
		return ""
	}
	return phonenumbers.Format(number, phonenumbers.E164)
}

func TestParsePhoneMatchesLibphonenumber(t *testing.T) {
	punctuation := rapid.SampledFrom([]string{"", "", "", "-", " ", ".", "(", ")", ") "})
	rapid.Check(t, func(t *rapid.T) {
		area := rapid.IntRange(100, 999).Draw(t, "area")
		exchange := rapid.OneOf(rapid.IntRange(100, 999), rapid.Just(555), rapid.SampledFrom([]int{211, 411, 700, 911, 950, 976})).Draw(t, "exchange")
		line := rapid.OneOf(rapid.IntRange(0, 9999), rapid.IntRange(90, 210)).Draw(t, "line")
		ten := fmt.Sprintf("%03d%03d%04d", area, exchange, line)
		prefix := rapid.SampledFrom([]string{"", "1", "+1"}).Draw(t, "prefix")
		text := prefix
		for _, digit := range ten {
			text += punctuation.Draw(t, "punctuation") + string(digit)
		}
		want := libphonenumberE164("1" + ten)
		got, ok := format.AppendPhoneAsE164(nil, []byte(text))
		if string(got) != want || ok != (want != "") {
			t.Fatalf("%q: got %q, libphonenumber %q", text, got, want)
		}
	})
}

func TestParseForeignPhoneMatchesLibphonenumber(t *testing.T) {
	countries := rapid.SampledFrom([]string{"44", "49", "33", "52", "91", "86", "61", "39", "55", "7", "81", "353", "800", "979", "0", "210"})
	rapid.Check(t, func(t *rapid.T) {
		digits := countries.Draw(t, "country") + rapid.StringMatching(`[0-9]{4,13}`).Draw(t, "rest")
		if len(digits) > 15 {
			return
		}
		want := libphonenumberE164(digits)
		got, ok := format.AppendPhoneAsE164(nil, []byte("+"+digits))
		if string(got) != want || ok != (want != "") {
			t.Fatalf("+%s: got %q, libphonenumber %q", digits, got, want)
		}
		// Parsing the result again must not change it.
		if again, ok := format.AppendPhoneAsE164(nil, got); len(got) > 0 && (!ok || string(again) != string(got)) {
			t.Fatalf("result %q is parsed again as %q", got, again)
		}
	})
}
