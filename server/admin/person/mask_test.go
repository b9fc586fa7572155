package person

import "testing"

func TestMask(t *testing.T) {
	for value, want := range map[string]struct{ shown, logged string }{
		"+14155550142":          {"***-***-0142", "***-***-0142"},
		"(415) 555-0142":        {"***-***-0142", "***-***-0142"},
		"Jane.Roe@Example.COM":  {"J***@example.com", "J***@***"},
		"4711@example.com":      {"***@example.com", "***@***"},
		"Jane Doe":              {"J*** D***", "J*** D***"},
		"Änne":                  {"Ä***", "Ä***"},
		"12 Main Street Apt 4":  {"*** M*** S*** A***", "*** M*** S*** A***"},
		"1980-01-31":            {"***", "***"},
		"123-45-6789":           {"***", "***"},
		"see jane@example.com!": {"s*** j***", "s*** j***"},
		" ":                     {"", ""},
		"\xff":                  {"***", "***"},
	} {
		if got := Mask(value); got != want.shown {
			t.Errorf("Mask(%q) is %q, want %q", value, got, want.shown)
		}
		if got := MaskForAuditLog(value); got != want.logged {
			t.Errorf("MaskForLog(%q) is %q, want %q", value, got, want.logged)
		}
	}
}

// Names of contact fields that a supplier chose freely are not shown.
func TestMaskedFieldsHavePlainNames(t *testing.T) {
	shown := maskPlainNamedFields([]ContactField{{"first_name", "Jane"}, {"jane@example.com", "x"}, {"Phone-No", "+14155550142"}, {"+14155550142", "x"}})
	if len(shown) != 2 || shown["first_name"] != "J***" || shown["Phone-No"] != "***-***-0142" {
		t.Errorf("shown: %v", shown)
	}
}
