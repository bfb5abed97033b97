#!/bin/sh
# Makes the certificates of the tests and of examples/https, valid for a hundred years. The keys protect nothing.
set -e
cd "$(dirname "$0")"
days=36500
key() { openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out "$1"; }
signed() { # NAME EXTENSIONS
  key "$1.key"
  openssl req -new -key "$1.key" -subj "/CN=$1" |
    openssl x509 -req -days $days -CA ca.pem -CAkey ca.key -set_serial "0x$(openssl rand -hex 8)" \
      -extfile "$2" -out "$1.pem"
}
key ca.key
openssl req -x509 -new -key ca.key -subj "/CN=Iolite test authority" -days $days -out ca.pem \
  -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
printf 'basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' > server.ext
printf 'basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n' > client.ext
signed server server.ext
signed client client.ext
# As `openssl req -x509` makes it: it signs itself, and calls itself an authority.
key self.key
openssl req -x509 -new -key self.key -subj "/CN=localhost" -days $days -out self.pem \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1
rm -f ca.key server.ext client.ext
cp ca.pem server.pem server.key ../../../../examples/https/
