package event

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"testing"

	"github.com/VictoriaMetrics/easyproto"
	"pgregory.net/rapid"
)

// testMessage has fields of every type, with contents on both sides of a length's byte limits.
type testMessage struct {
	Text   string
	Bytes  []byte
	Number uint64
	Signed int64
	Fixed  uint64
	Flag   bool
	Words  []uint64
	Texts  []string
	IDs    [][16]byte
	Inner  []testMessage
}

func (v *testMessage) encodeOrDecode(pb *protobufCodec) {
	encodeOrDecodeString(pb, 1, &v.Text)
	encodeOrDecodeBytes(pb, 15, &v.Bytes)
	encodeOrDecodeUint64(pb, 16, &v.Number)
	encodeOrDecodeZigzag(pb, 17, &v.Signed)
	encodeOrDecodeFixed64(pb, 18, &v.Fixed)
	encodeOrDecodeBool(pb, 19, &v.Flag)
	encodeOrDecodePackedUint64s(pb, 20, &v.Words)
	encodeOrDecodeStringList(pb, 21, &v.Texts)
	encodeOrDecodeID16List(pb, 2047, &v.IDs)
	encodeOrDecodeMessageList(pb, 2048, &v.Inner)
}

// appendReference encodes the message with the easyproto library.
func (v *testMessage) appendReference(mm *easyproto.MessageMarshaler) {
	if v.Text != "" {
		mm.AppendString(1, v.Text)
	}
	if len(v.Bytes) > 0 {
		mm.AppendBytes(15, v.Bytes)
	}
	if v.Number != 0 {
		mm.AppendUint64(16, v.Number)
	}
	if v.Signed != 0 {
		mm.AppendSint64(17, v.Signed)
	}
	if v.Fixed != 0 {
		mm.AppendFixed64(18, v.Fixed)
	}
	if v.Flag {
		mm.AppendBool(19, true)
	}
	if len(v.Words) > 0 {
		mm.AppendUint64s(20, v.Words)
	}
	for _, text := range v.Texts {
		mm.AppendString(21, text)
	}
	for _, id := range v.IDs {
		mm.AppendBytes(2047, id[:])
	}
	for i := range v.Inner {
		v.Inner[i].appendReference(mm.AppendMessage(2048))
	}
}

func drawMessage(t *rapid.T, depth int) (v testMessage) {
	sized := func(what string) []byte {
		return make([]byte, rapid.SampledFrom([]int{0, 0, 1, 60, 120, 127, 128, 200, 16_380, 16_384, 1 << 21}).Draw(t, what))
	}
	v.Text, v.Bytes = string(sized("text")), sized("bytes")
	v.Number, v.Signed, v.Fixed = rapid.Uint64().Draw(t, "number"), rapid.Int64().Draw(t, "signed"), rapid.Uint64().Draw(t, "fixed")
	v.Flag = rapid.Bool().Draw(t, "flag")
	v.Words = rapid.SliceOfN(rapid.Uint64(), 0, 20).Draw(t, "words")
	v.Texts = rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "texts")
	v.IDs = make([][16]byte, rapid.IntRange(0, 3).Draw(t, "ids"))
	for range rapid.IntRange(0, 3-depth).Draw(t, "inner") {
		v.Inner = append(v.Inner, drawMessage(t, depth+1))
	}
	return v
}

// The codec encodes as the library does, and decodes the fields in any order.
func TestCodecMatchesProtobufLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "before")
		all := drawMessage(t, 0)
		var library easyproto.Marshaler
		all.appendReference(library.MessageMarshaler())
		pb := takeEncoderFromPool(bytes.Clone(before))
		all.encodeOrDecode(pb)
		got := pb.finishAndReturnToPool()
		if want := library.Marshal(bytes.Clone(before)); !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
		var fields [][]byte
		for rest := got[len(before):]; len(rest) > 0; {
			var fc easyproto.FieldContext
			after, err := fc.NextField(rest)
			if err != nil {
				t.Fatal(err)
			}
			fields, rest = append(fields, rest[:len(rest)-len(after)]), after
		}
		var inOrder, reversed testMessage
		var decoder protobufCodec
		if err := decoder.decodeMessage(got[len(before):], &inOrder); err != nil || !equalValues(reflect.ValueOf(inOrder), reflect.ValueOf(all)) {
			t.Fatalf("%+v\ndecoded as %+v, %v", all, inOrder, err)
		}
		// Elements of one list keep their order, so only different fields change places.
		numberOf := func(field []byte) uint32 {
			var fc easyproto.FieldContext
			_, _ = fc.NextField(field)
			return fc.FieldNum
		}
		slices.SortStableFunc(fields, func(a, b []byte) int { return cmp.Compare(numberOf(b), numberOf(a)) })
		if err := decoder.decodeMessage(bytes.Join(fields, nil), &reversed); err != nil || !equalValues(reflect.ValueOf(reversed), reflect.ValueOf(all)) {
			t.Fatalf("%+v\ndecoded in reverse order as %+v, %v", all, reversed, err)
		}
	})
}
