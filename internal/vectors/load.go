package vectors

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
)

// folderVariable names the environment variable with the folder that is read in
// place of the embedded one.
const folderVariable = "KEYROUTE_VECTORS"

//go:embed testdata/*.json
var embedded embed.FS

func read[T any](t testing.TB, name string) []T {
	t.Helper()
	vectors, err := load[T](folder(), name)
	if err != nil {
		t.Fatalf("vectors: %s: %v", name, err)
	}
	return vectors
}

func folder() fs.FS {
	if dir := os.Getenv(folderVariable); dir != "" {
		return os.DirFS(dir)
	}
	sub, err := fs.Sub(embedded, "testdata")
	if err != nil {
		panic(err) // the name above is a valid path
	}
	return sub
}

// load reads a file of vectors, a JSON array of objects that have each field of
// T and no other.
func load[T any](folder fs.FS, name string) ([]T, error) {
	content, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, err
	}
	var entries []json.RawMessage
	if err := decodeStrictly(content, &entries); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errors.New("the list is empty")
	}
	vectors := make([]T, len(entries))
	for i, entry := range entries {
		if err := decodeStrictly(entry, &vectors[i]); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
		if err := requireFields[T](entry); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return vectors, nil
}

// decodeStrictly decodes all of content and refuses fields that the target does
// not have.
func decodeStrictly(content []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

// requireFields reports a field of T that an entry does not have, which would
// otherwise decode as an expectation of nothing.
func requireFields[T any](entry []byte) error {
	var present map[string]json.RawMessage
	if err := json.Unmarshal(entry, &present); err != nil {
		return err
	}
	fields := reflect.TypeFor[T]()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if _, ok := present[name]; !ok {
			return fmt.Errorf("the field %q is missing", name)
		}
	}
	return nil
}
