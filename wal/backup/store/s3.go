package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// S3 is a Store in a bucket, or in a folder of a bucket.
//
// The service must support conditional writes (If-None-Match: *), as AWS, MinIO, R2 and
// others do. Without them two copies of an exchange could claim one place. Create reads the
// object back to detect a service that ignores the condition.
type S3 struct {
	client *minio.Client
	bucket string
	prefix string // ends with a slash, or is empty
}

// tries is the number of attempts of the client for one request. The shipper retries and
// logs failures anyway.
const tries = 2

// openS3 opens the store s3://bucket/prefix?endpoint=…&region=…. The environment gives
// defaults: PINGPOST_S3_ENDPOINT and AWS_REGION. The credentials are AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or otherwise those of the machine's role.
func openS3(place string, getenv func(string) (string, bool), transport http.RoundTripper) (*S3, error) {
	u, err := url.Parse(place)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, errors.New("cannot parse the backup place; write s3://bucket/prefix, and give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	for name := range u.Query() {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("s3://%s accepts ?endpoint= and ?region=, but not %q", u.Host, name)
		}
	}
	or := func(value, name, otherwise string) string {
		if value != "" {
			return value
		}
		if value, ok := getenv(name); ok && value != "" {
			return value
		}
		return otherwise
	}
	endpoint := or(u.Query().Get("endpoint"), "PINGPOST_S3_ENDPOINT", "https://s3.amazonaws.com")
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") || strings.Trim(at.Path, "/") != "" {
		return nil, fmt.Errorf("the S3 endpoint %q is not an address; write for example https://s3.example.com", endpoint)
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds: credentialsFromEnvOrRole(getenv), Secure: at.Scheme == "https", Region: or(u.Query().Get("region"), "AWS_REGION", ""),
		Transport: transport, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot use the S3 endpoint %q: %w", endpoint, err)
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &S3{client: client, bucket: u.Host, prefix: prefix}, nil
}

func credentialsFromEnvOrRole(getenv func(string) (string, bool)) *credentials.Credentials {
	id, _ := getenv("AWS_ACCESS_KEY_ID")
	secret, _ := getenv("AWS_SECRET_ACCESS_KEY")
	token, _ := getenv("AWS_SESSION_TOKEN")
	if id != "" {
		return credentials.NewStaticV4(id, secret, token)
	}
	return credentials.NewIAM("")
}

func (s *S3) String() string { return "s3://" + s.bucket + "/" + strings.TrimSuffix(s.prefix, "/") }

// Put implements Store.
func (s *S3) Put(ctx context.Context, name string, data []byte) error {
	return s.put(ctx, name, data, minio.PutObjectOptions{DisableMultipart: true})
}

// Create implements Store.
func (s *S3) Create(ctx context.Context, name string, data []byte) error {
	opt := minio.PutObjectOptions{DisableMultipart: true}
	opt.SetMatchETagExcept("*")
	if err := s.put(ctx, name, data, opt); err != nil && serviceResponse(err).StatusCode != http.StatusPreconditionFailed {
		return err
	}
	return checkOwnObject(ctx, s, name, data)
}

// serviceResponse returns the error response of the S3 service that err contains. It is empty
// if the service did not answer.
func serviceResponse(err error) (response minio.ErrorResponse) {
	_ = errors.As(err, &response)
	return response
}

func (s *S3) put(ctx context.Context, name string, data []byte, opt minio.PutObjectOptions) error {
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(data), int64(len(data)), opt)
	if err != nil {
		return fmt.Errorf("cannot write the object %s to the backup store %s: %w", name, s, err)
	}
	return nil
}

// Get implements Store.
func (s *S3) Get(ctx context.Context, name string) ([]byte, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the object %s from the backup store %s: %w", name, s, err)
	}
	data, err := io.ReadAll(io.LimitReader(object, MaxObject))
	err = errors.Join(err, object.Close())
	if err == nil {
		return data, nil
	}
	if serviceResponse(err).Code == minio.NoSuchKey {
		err = ErrNotFound
	}
	return nil, fmt.Errorf("cannot read the object %s from the backup store %s: %w", name, s, err)
}

// List implements Store.
func (s *S3) List(ctx context.Context, folder string) ([]Object, error) {
	if folder != "" {
		folder = strings.TrimSuffix(folder, "/") + "/"
	}
	var found []Object
	for object := range s.client.ListObjects(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + folder, Recursive: true}) {
		if object.Err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", s, object.Err)
		}
		found = append(found, Object{
			Name: strings.TrimPrefix(object.Key, s.prefix), Size: object.Size, Modified: object.LastModified,
		})
	}
	return found, ctx.Err()
}

// Delete implements Store.
func (s *S3) Delete(ctx context.Context, names ...string) error {
	going := make(chan minio.ObjectInfo)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(going)
		for _, name := range names {
			select {
			case going <- minio.ObjectInfo{Key: s.prefix + name}:
			case <-ctx.Done():
				return
			}
		}
	}()
	var failed error
	for gone := range s.client.RemoveObjects(ctx, s.bucket, going, minio.RemoveObjectsOptions{}) {
		failed = errors.Join(failed, gone.Err)
	}
	if err := errors.Join(failed, ctx.Err()); err != nil {
		return fmt.Errorf("cannot delete objects of the backup in %s: %w", s, err)
	}
	return nil
}
