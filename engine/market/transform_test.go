package market

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTransforms(t *testing.T) {
	tests := []struct {
		transform FieldTransform
		in, want  string // want "!": the transform rejects the text
	}{
		{TransformTrim, " \t\u00a0\u200b\ufeffa b\u2060\u3000\n", "a b"},
		{TransformTrim, "a", "a"},
		{TransformLower, "ÀB c1", "àb c1"},
		{TransformUpper, "ca ß é", "CA ß É"},
		{TransformDigits, "a1-2 ３b3", "123"},
		{TransformDigits, "none", "!"},
		{TransformTitle, "ann mcdonald", "Ann Mcdonald"},
		{TransformTitle, "O'NEIL-SMITH", "O'Neil-Smith"},
		{TransformTitle, "o\u2019neil", "O\u2019Neil"},
		{TransformTitle, "matt's 1ST élan", "Matt's 1st Élan"},
		{TransformTitle, "", ""},
		{TransformE164, "(415) 555-0123", "+14155550123"},
		{TransformE164, "415", "!"},
		{TransformZIP3, "94107-1234", "941"},
		{TransformZIP3, "9410", "!"},
		{TransformSHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	}
	for _, test := range tests {
		buf := []byte("before")
		got, grown, ok := test.transform.ApplyToText([]byte(test.in), buf)
		if ok != (test.want != "!") || ok && string(got) != test.want {
			t.Errorf("%s of %q: %q %v, want %q", test.transform, test.in, got, ok, test.want)
		}
		if !bytes.HasPrefix(grown, []byte("before")) {
			t.Errorf("%s of %q overwrote the buffer: %q", test.transform, test.in, grown)
		}
	}
}

func TestTransformsKeepInputAndUTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "text")
		transform := rapid.SampledFrom([]FieldTransform{TransformTrim, TransformLower, TransformUpper, TransformTitle}).Draw(t, "transform")
		text := []byte(in)
		once, _, ok := transform.ApplyToText(text, nil)
		if string(text) != in || !ok || !utf8.Valid(once) {
			t.Fatalf("%s of %q: %q %v", transform, in, once, ok)
		}
	})
}

func TestParseTransform(t *testing.T) {
	for _, name := range []string{"trim", "lower", "upper", "digits", "title", "e164", "zip3", "sha256"} {
		if transform, err := ParseTransform(name); err != nil || transform.String() != name {
			t.Errorf("%s: %v %v", name, transform, err)
		}
	}
	for _, name := range []string{"", "Trim", "md5"} {
		if _, err := ParseTransform(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	if transformEnd.String() != "" {
		t.Error("an invalid transform has a name")
	}
	defer func() {
		if recover() == nil {
			t.Error("applying an invalid transform does not panic")
		}
	}()
	transformEnd.ApplyToText(nil, nil)
}

func TestSplitTransforms(t *testing.T) {
	before, after := splitTransformsAroundChecks([]FieldTransform{TransformTrim, TransformZIP3, TransformLower})
	if len(before) != 1 || len(after) != 2 || after[0] != TransformZIP3 {
		t.Errorf("%v | %v", before, after)
	}
	if before, after := splitTransformsAroundChecks([]FieldTransform{TransformTrim}); len(before) != 1 || after != nil {
		t.Errorf("%v | %v", before, after)
	}
}

func TestIsBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \t\r\n": true, "\u00a0\u3000": true, "\u200b\u200d\ufeff\u2060": true,
		"a": false, " a ": false, "\x00": false, "\u0301": false, "0": false,
	} {
		if isBlank([]byte(text)) != want {
			t.Errorf("isBlank(%q) is not %t", text, want)
		}
	}
}
