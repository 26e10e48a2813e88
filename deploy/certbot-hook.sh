#!/bin/sh
# A deploy hook of certbot: copies a new certificate to where the service can read it, which certbot's own folder is not.
# The service notices within seconds.
set -eu
folder="${1:-/etc/openpit/tls}"
group="${2:-openpit-tls}"
install -d -m 750 -g "$group" "$folder"
for file in privkey.pem fullchain.pem; do
  install -m 640 -g "$group" "$RENEWED_LINEAGE/$file" "$folder/$file.new"
  mv "$folder/$file.new" "$folder/$file"
done
