package event

import (
	"bytes"
	"testing"

	"github.com/VictoriaMetrics/easyproto"
	"pgregory.net/rapid"
)

// What the writer writes is what the library would: messages of any shape, with
// contents on both sides of where a length takes another byte.
func TestAWriterWritesProtobuf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "before")
		var reference easyproto.Marshaler
		w := newRecordWriter(bytes.Clone(before))
		writeBoth(t, w.outermostMessage(), reference.MessageMarshaler(), 0)
		if got, want := w.finishRecord(), reference.Marshal(bytes.Clone(before)); !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
	})
}

func writeBoth(t *rapid.T, ours openMessage, reference *easyproto.MessageMarshaler, depth int) {
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		field := rapid.SampledFrom([]uint32{1, 15, 16, 2047, 2048}).Draw(t, "field")
		switch rapid.SampledFrom([]string{"uint", "sint", "fixed", "string", "bytes", "bool", "words", "message"}).Draw(t, "form") {
		case "uint":
			v := rapid.Uint64().Draw(t, "number")
			ours.AppendUint64(field, v)
			reference.AppendUint64(field, v)
		case "sint":
			v := rapid.Int64().Draw(t, "number")
			ours.AppendSint64(field, v)
			reference.AppendSint64(field, v)
		case "fixed":
			v := rapid.Uint64().Draw(t, "number")
			ours.AppendFixed64(field, v)
			reference.AppendFixed64(field, v)
		case "string":
			v := string(content(t))
			ours.AppendString(field, v)
			reference.AppendString(field, v)
		case "bytes":
			v := content(t)
			ours.AppendBytes(field, v)
			reference.AppendBytes(field, v)
		case "bool":
			v := rapid.Bool().Draw(t, "flag")
			ours.AppendBool(field, v)
			reference.AppendBool(field, v)
		case "words":
			v := rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(t, "words")
			ours.AppendUint64s(field, v)
			reference.AppendUint64s(field, v)
		case "message":
			if depth < 4 {
				writeBoth(t, ours.AppendMessage(field), reference.AppendMessage(field), depth+1)
			}
		}
	}
}

// content is bytes of a length where something changes.
func content(t *rapid.T) []byte {
	return make([]byte, rapid.SampledFrom([]int{0, 1, 60, 120, 127, 128, 200, 16_380, 16_384, 1 << 21}).Draw(t, "length"))
}
